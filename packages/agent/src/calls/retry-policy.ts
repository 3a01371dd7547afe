import { cancelled, checkCount, checkTime, type AgentError } from "../errors.ts";

/** When a failed call to a model is made again. */
export interface RetryPolicy {
  /** Attempts in all, the first included. Default: 5. */
  readonly attempts?: number | undefined;
  /** Milliseconds before the second attempt; doubled for each further one, and lengthened by up to a half by chance. Default: `1_000`. */
  readonly delay?: number | undefined;
  /** Most milliseconds between two attempts that no server asked for. Default: `60_000`. */
  readonly maxDelay?: number | undefined;
  /** Longest `Retry-After`, in milliseconds, that is obeyed; a longer one ends the call. Default: `120_000`. */
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

/** Checks a policy once, and says how long to wait after a failed attempt. */
export function createRetry(
  policy: RetryPolicy = {},
): (attempt: number, error: AgentError) => number | undefined {
  const { attempts = 5, delay = 1_000, maxDelay = 60_000, maxRetryAfter = 120_000 } = policy;
  checkCount("retry.attempts", attempts);
  checkTime("retry.delay", delay, 0);
  checkCount("retry.maxDelay", maxDelay, 0);
  checkTime("retry.maxRetryAfter", maxRetryAfter, 0);
  return (attempt, { retryable, retryAfter }) => {
    if (!retryable || attempt >= attempts) return undefined;
    if (retryAfter !== undefined && retryAfter > maxRetryAfter) return undefined;
    const ours = Math.min(maxDelay, delay * 2 ** (attempt - 1)) * (1 + Math.random() / 2);
    return Math.max(retryAfter ?? 0, Math.round(ours));
  };
}

/** Resolves after `delay` milliseconds; rejects when the signal ends it. */
export function pause(delay: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(cancelled(signal));
    const stop = (): void => {
      clearTimeout(timer);
      reject(cancelled(signal));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, delay);
    signal.addEventListener("abort", stop, { once: true });
  });
}
