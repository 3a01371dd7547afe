import { checkAmount, checkOptions, type OptionNames } from "../check-options.ts";
import {
  partLength,
  windowParts,
  type RateLimitQuota,
  type RateLimitStore,
  type RateLimitVerdict,
} from "./rate-limit-store.ts";

/** Options of {@link memoryRateLimitStore}. */
export interface MemoryRateLimitStoreOptions {
  /**
   * Maximum number of keys. Beyond it the key that was unused for longest is dropped. One takes about 300 bytes.
   * Default: `100_000`.
   */
  readonly maxKeys?: number | undefined;
  /** Milliseconds of a clock that never goes back. Default: `performance.now`. */
  readonly now?: (() => number) | undefined;
}

/** Counts of one key: number of the part and requests in it, oldest first. */
interface Counts {
  readonly parts: number[];
  readonly counts: number[];
  used: number;
  length: number;
}

/**
 * Makes a store that counts in the memory of this process. Several processes count each for itself; they share a
 * {@link redisRateLimitStore}.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function memoryRateLimitStore(options: MemoryRateLimitStoreOptions = {}): RateLimitStore {
  checkOptions(options, knownOptions);
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
    const length = partLength(quota.window);
    const part = Math.floor(now / length);
    const known = this.#keys.get(key);
    if (known !== undefined) this.#keys.delete(key);
    const entry = known?.length === length ? known : { parts: [], counts: [], used: 0, length };
    dropBefore(entry, part - windowParts);

    const isAllowed = entry.used < quota.limit;
    if (isAllowed) count(entry, part);
    this.#keys.set(key, entry);
    this.#forget(now);

    const oldest = entry.parts[0] ?? part;
    return {
      isAllowed,
      remaining: Math.max(quota.limit - entry.used, 0),
      resetAfter: (oldest + windowParts + 1) * length - now,
    };
  }

  /** Forgets what is over, two keys at each turn, and what is too much. */
  #forget(now: number): void {
    let turns = 2;
    for (const [key, entry] of this.#keys) {
      const newest = entry.parts.at(-1) ?? -Infinity;
      const isOver = (newest + windowParts + 1) * entry.length <= now;
      if (turns === 0 || (!isOver && this.#keys.size <= this.#maxKeys)) return;
      this.#keys.delete(key);
      turns -= 1;
    }
  }
}

function dropBefore(entry: Counts, first: number): void {
  while ((entry.parts[0] ?? Infinity) < first) {
    entry.parts.shift();
    entry.used -= entry.counts.shift() ?? 0;
  }
}

function count(entry: Counts, part: number): void {
  const last = entry.parts.length - 1;
  if (entry.parts[last] === part) {
    entry.counts[last] = (entry.counts[last] ?? 0) + 1;
  } else {
    entry.parts.push(part);
    entry.counts.push(1);
  }
  entry.used += 1;
}

const knownOptions: OptionNames<MemoryRateLimitStoreOptions> = {
  owner: "memoryRateLimitStore",
  names: {
    maxKeys: true,
    now: true,
  },
  otherNames: {
    max: "maxKeys",
    maxSize: "maxKeys",
    maxEntries: "maxKeys",
  },
};
