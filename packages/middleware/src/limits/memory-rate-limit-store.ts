import { checkAmount, checkOptions } from "../check-options.ts";
import {
  partLength,
  type RateLimitQuota,
  type RateLimitStore,
  type RateLimitVerdict,
} from "./rate-limit-store.ts";

/** Options of {@link memoryRateLimitStore}. */
export interface MemoryRateLimitStoreOptions {
  /**
   * Maximum number of keys. Beyond it the key that was unused for longest is dropped. One takes
   * about 300 bytes. Default: `100_000`.
   */
  readonly maxKeys?: number | undefined;
  /** Milliseconds of a clock that never goes back. Default: `performance.now`. */
  readonly now?: (() => number) | undefined;
}

/** Counts of one key: time of the last request of each part and requests in it, oldest first. */
interface Counts {
  readonly lasts: number[];
  readonly counts: number[];
  readonly window: number;
  used: number;
  /** Time of the first request of the newest part. */
  start: number;
}

/**
 * Makes a store that counts in the memory of this process. Several processes count each for itself;
 * they share a {@link redisRateLimitStore}.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function memoryRateLimitStore(options: MemoryRateLimitStoreOptions = {}): RateLimitStore {
  checkOptions("memoryRateLimitStore", options, ["maxKeys", "now"]);
  const { maxKeys = 100_000, now = () => performance.now() } = options;
  checkAmount(maxKeys, "maxKeys", 1);
  return new MemoryRateLimitStore(maxKeys, now);
}

class MemoryRateLimitStore implements RateLimitStore {
  readonly #maxKeys: number;
  readonly #now: () => number;
  // In the order of last use, so the first is the one that was silent for longest.
  readonly #keys = new Map<string, Counts>();

  constructor(maxKeys: number, now: () => number) {
    this.#maxKeys = maxKeys;
    this.#now = now;
  }

  take(key: string, quota: RateLimitQuota): RateLimitVerdict {
    const now = this.#now();
    const { limit, window } = quota;
    const known = this.#keys.get(key);
    if (known !== undefined) this.#keys.delete(key);
    const entry =
      known?.window === window
        ? known
        : { lasts: [], counts: [], window, used: 0, start: -Infinity };
    dropUntil(entry, now - window);

    const isAllowed = entry.used < limit;
    if (isAllowed) count(entry, now, partLength(quota));
    this.#keys.set(key, entry);
    this.#forget(now);

    const oldest = entry.lasts[0] ?? now;
    return {
      isAllowed,
      remaining: Math.max(limit - entry.used, 0),
      resetAfter: window - (now - oldest),
    };
  }

  /** Forgets what is over, two keys at each turn, and what is too much. */
  #forget(now: number): void {
    let turns = 2;
    for (const [key, entry] of this.#keys) {
      const newest = entry.lasts.at(-1) ?? -Infinity;
      const isOver = newest + entry.window <= now;
      if (turns === 0 || (!isOver && this.#keys.size <= this.#maxKeys)) return;
      this.#keys.delete(key);
      turns -= 1;
    }
  }
}

function dropUntil(entry: Counts, time: number): void {
  while ((entry.lasts[0] ?? Infinity) <= time) {
    entry.lasts.shift();
    entry.used -= entry.counts.shift() ?? 0;
  }
}

function count(entry: Counts, now: number, length: number): void {
  const last = entry.lasts.length - 1;
  if (last >= 0 && now - entry.start <= length) {
    entry.lasts[last] = now;
    entry.counts[last] = (entry.counts[last] ?? 0) + 1;
  } else {
    entry.lasts.push(now);
    entry.counts.push(1);
    entry.start = now;
  }
  entry.used += 1;
}
