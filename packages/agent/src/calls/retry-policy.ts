import { backoffDelay, pause as wait } from "@fetchwork/kit";
import { checkOptions } from "../check-options.ts";
import { cancelled, checkCount, checkTime, type AgentError } from "../errors.ts";

/** When a failed call to a model is made again. */
export interface RetryPolicy {
  /** Attempts in all, the first included. Default: 5. */
  readonly attempts?: number | undefined;
  /**
   * Milliseconds before the second attempt; each next doubles up to a minute, times 1 to 1.5.
   * Default: `1_000`.
   */
  readonly delay?: number | undefined;
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

/** Maximum milliseconds between attempts, before the random number. */
const maxDelay = 60_000;

/** Maximum `Retry-After` in milliseconds that is obeyed; a longer one ends the call. */
const maxRetryAfter = 120_000;

/** Checks a policy once. The result returns the wait after a failure; undefined after the last. */
export function createRetry(
  policy: RetryPolicy = {},
): (attempt: number, error: AgentError) => number | undefined {
  checkOptions("retry", policy, ["attempts", "delay"]);
  const { attempts = 5, delay = 1_000 } = policy;
  checkCount("retry.attempts", attempts);
  checkTime("retry.delay", delay, 0);
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
