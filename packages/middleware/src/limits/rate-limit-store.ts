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
  /** Milliseconds until the oldest requests leave the window: at most the window. */
  readonly resetAfter: number;
}

/** Stores the counts of `rateLimit`. */
export interface RateLimitStore {
  /** Counts a request, unless its key has no quota left. Atomic. */
  take(key: string, quota: RateLimitQuota): RateLimitVerdict | Promise<RateLimitVerdict>;
}

/** Maximum number of parts of a window in which requests are counted together. */
const windowParts = 10;

/**
 * Milliseconds after the first request of a part in which others are counted with it. A part leaves
 * the window with its last request, so that no window ever holds more than the limit. Up to ten
 * requests are counted one by one.
 */
export function partLength({ limit, window }: RateLimitQuota): number {
  return limit <= windowParts ? 0 : window / windowParts;
}
