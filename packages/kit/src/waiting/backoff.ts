import { parseRetryAfter } from "./retry-after.ts";

/** Options of {@link backoffDelay}. */
export interface BackoffOptions {
  /** Milliseconds after the first failure, before the jitter. */
  readonly baseDelay: number;
  /** Maximum in milliseconds, before the jitter. */
  readonly maxDelay: number;
  /** How many times longer the delay is after each further failure. Default: 2. */
  readonly factor?: number | undefined;
  /**
   * Minimum and maximum of the random number that the delay is multiplied by, so that callers that failed together do
   * not come back together. Default: `[0, 1]` ("full jitter"); `[1, 1]` is none.
   */
  readonly jitter?: readonly [minimum: number, maximum: number] | undefined;
}

/**
 * Computes how long to wait before the next attempt: a delay that grows exponentially up to a maximum, times a random
 * number.
 *
 * @param failures - Number of failed attempts so far, at least 1.
 * @returns Milliseconds, not rounded.
 */
export function backoffDelay(failures: number, options: BackoffOptions): number {
  const { baseDelay, maxDelay, factor = 2, jitter = [0, 1] } = options;
  // Finite, because 0 times infinity is not a number.
  const growth = Math.min(factor ** (failures - 1), Number.MAX_VALUE);
  const [minimum, maximum] = jitter;
  return Math.min(maxDelay, baseDelay * growth) * (minimum + Math.random() * (maximum - minimum));
}

// The standard field first, then the names that APIs use for the end of their rate limit's window.
const resetFields = [
  "ratelimit-reset",
  "x-ratelimit-retry-after",
  "x-ratelimit-reset",
  "x-rate-limit-reset",
];

/** Seconds from here on are a point in time: as a delay they would be 30 years. */
const epochFrom = 1_000_000_000;

/**
 * Returns how long the headers of a response ask the client to wait: `Retry-After` (RFC 9110, 10.2.3), else
 * `RateLimit-Reset`, `X-RateLimit-Retry-After`, `X-RateLimit-Reset` or `X-Rate-Limit-Reset`, each as seconds, as seconds
 * since 1970, or as a date.
 *
 * @param headers - A `Headers`, or anything that finds a field by its name in lower case.
 * @param now - Milliseconds since 1970. Default: the current time.
 * @returns Milliseconds, 0 for a time in the past; undefined when no field has a valid value.
 */
export function requestedDelay(
  headers: Pick<Headers, "get">,
  now: number = Date.now(),
): number | undefined {
  const retryAfter = parseRetryAfter(headers.get("retry-after") ?? "", now);
  if (retryAfter !== undefined) return retryAfter;
  for (const name of resetFields) {
    const field = headers.get(name)?.trim() ?? "";
    const seconds = /^\d{1,10}(?:\.\d{1,9})?$/.test(field) ? Number(field) : undefined;
    if (seconds === undefined) {
      const delay = parseRetryAfter(field, now);
      if (delay !== undefined) return delay;
    } else {
      return seconds < epochFrom ? seconds * 1000 : Math.max(0, seconds * 1000 - now);
    }
  }
  return undefined;
}
