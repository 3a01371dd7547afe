/** How many requests may pass in which time. */
export interface RateLimitQuota {
  /** Requests in any window. */
  readonly limit: number;
  /** Length of the window in milliseconds. */
  readonly window: number;
}

/** The decision of a store about one request. */
export interface RateLimitVerdict {
  /** Whether the request was counted and may pass. A refused one is not counted. */
  readonly isAllowed: boolean;
  /** Requests that may still pass now. */
  readonly remaining: number;
  /** Milliseconds until the oldest counted request leaves the window and more may pass. */
  readonly resetAfter: number;
}

/** Stores the counts of `rateLimit`. */
export interface RateLimitStore {
  /** Counts a request, unless its key has no quota left. Atomic. */
  take(key: string, quota: RateLimitQuota): RateLimitVerdict | Promise<RateLimitVerdict>;
}

/**
 * Parts of a window in which requests are counted together. A window is never longer than asked for by less than one
 * part, so that no window of the asked length ever holds more than the limit.
 */
export const windowParts = 10;

/** Length of a part in milliseconds. */
export function partLength(window: number): number {
  return Math.ceil(window / windowParts);
}
