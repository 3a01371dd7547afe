import { parseRetryAfter } from "./retry-after.ts";

// The standard field first, then the names that APIs use for the end of their rate limit's window.
const resetFields = [
  "ratelimit-reset",
  "x-ratelimit-retry-after",
  "x-ratelimit-reset",
  "x-rate-limit-reset",
];

/** Many APIs send rate limit fields with every response; only these statuses ask for a pause. */
const limitStatuses: ReadonlySet<number> = new Set([413, 429, 503]);

/** Seconds from here on are a point in time: as a delay they would be 30 years. */
const epochFrom = 1_000_000_000;

/** Response, as far as {@link requestedDelay} reads it; a `Response` is one. */
export interface DelayingResponse {
  /** Status code; only some statuses ask for a delay. */
  readonly status: number;
  /** Anything that finds a field by its name in lower case. */
  readonly headers: Pick<Headers, "get">;
}

/**
 * Returns how long a response asks the client to wait: `Retry-After` (RFC 9110, 10.2.3), or with
 * status 413, 429 or 503 also `RateLimit-Reset`, `X-RateLimit-Retry-After`, `X-RateLimit-Reset` or
 * `X-Rate-Limit-Reset`, each as seconds, as seconds since 1970, or as a date.
 *
 * @param now - Milliseconds since 1970. Default: the current time.
 * @returns Milliseconds, 0 for a time in the past; undefined when no field has a valid value.
 */
export function requestedDelay(
  { status, headers }: DelayingResponse,
  now: number = Date.now(),
): number | undefined {
  const retryAfter = parseRetryAfter(headers.get("retry-after") ?? "", now);
  if (retryAfter !== undefined || !limitStatuses.has(status)) return retryAfter;
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
