import { backoffDelay, pause as wait } from "@fetchwork/kit";
import { checkOptions } from "../check-options.ts";
import { cancelled, checkCount, checkTime, type AgentError } from "../errors.ts";

/** When a failed call to a model is made again. */
export interface RetryPolicy {
  /** Attempts in all, the first included. Default: 5. */
  readonly attempts?: number | undefined;
  /**
   * Milliseconds before the second attempt; each next doubles, times 1 to 1.5. Default: `1_000`.
   */
  readonly delay?: number | undefined;
  /** Maximum of that delay in milliseconds, before the random number. Default: `60_000`. */
  readonly maxDelay?: number | undefined;
  /** Maximum `Retry-After` that is obeyed; a longer one ends the call. Default: `120_000` ms. */
  readonly maxRetryAfter?: number | undefined;
}

/** A failed attempt that is followed by another. */
export interface RetryNotice {
  /** Number of the failed attempt, from 1. */
  readonly attempt: number;
  /** Milliseconds until the next. */
  readonly delay: number;
  /** Why it failed. */
  readonly error: AgentError;
}

/** Checks a policy once. The result returns the wait after a failure; undefined after the last. */
export function createRetry(
  policy: RetryPolicy = {},
): (attempt: number, error: AgentError) => number | undefined {
  checkOptions("retry", policy, ["attempts", "delay", "maxDelay", "maxRetryAfter"]);
  const { attempts = 5, delay = 1_000, maxDelay = 60_000, maxRetryAfter = 120_000 } = policy;
  checkCount("retry.attempts", attempts);
  checkTime("retry.delay", delay, 0);
  checkCount("retry.maxDelay", maxDelay, 0);
  checkTime("retry.maxRetryAfter", maxRetryAfter, 0);
  return (attempt, { retryable, retryAfter }) => {
    if (!retryable || attempt >= attempts) return undefined;
    if (retryAfter !== undefined && retryAfter > maxRetryAfter) return undefined;
    const backoff = backoffDelay(attempt, { baseDelay: delay, maxDelay, jitter: [1, 1.5] });
    return Math.max(retryAfter ?? 0, Math.round(backoff));
  };
}

/**
 * Resolves after `delay` milliseconds.
 *
 * @throws AgentError `ERR_AGENT_CANCELLED` when the signal aborts
 */
export async function pause(delay: number, signal: AbortSignal): Promise<void> {
  try {
    await wait(delay, signal);
  } catch {
    throw cancelled(signal);
  }
}
