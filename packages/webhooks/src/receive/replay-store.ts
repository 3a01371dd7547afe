/** State of a delivery: unknown, being handled, or handled. */
export type ReplayState = "new" | "running" | "done";

/**
 * Remembers deliveries, so that each is handled once. Keys are the name of the vendor, a colon and
 * a digest: at most 128 characters, and safe to store.
 */
export interface ReplayStore {
  /**
   * Claims a delivery atomically. `"new"`: the caller has claimed it for `lease` milliseconds.
   * After them it is new again, unless it is done.
   */
  claim(key: string, lease: number): ReplayState | Promise<ReplayState>;
  /** Extends a claim while handlers run. Without it, a claim must last longer than they do. */
  renew?(key: string, lease: number): void | Promise<void>;
  /** Marks a delivery as done for `keepFor` milliseconds. */
  complete(key: string, keepFor: number): void | Promise<void>;
  /** Releases a claim, because a handler failed: the next delivery with this key is new. */
  release(key: string): void | Promise<void>;
}

/**
 * Options of replay protection. A delivery is a duplicate when it has the signed identifier of a
 * handled one. Without a signed identifier it is handled each time, because different events may
 * have the same body.
 */
export interface ReplayOptions {
  /**
   * Remembers deliveries. Default: the memory of the process, which remembers the last 100,000
   * deliveries and forgets them with a restart.
   */
  readonly store?: ReplayStore | undefined;
  /** Milliseconds for which a handled delivery is remembered. Default: 24 hours. */
  readonly keepFor?: number | undefined;
  /** Milliseconds until the claim of a process that crashed expires. Default: `60_000`. */
  readonly lease?: number | undefined;
  /**
   * Milliseconds for which deliveries without a signed identifier count as duplicates when their
   * bodies are equal. Genuine events with equal bodies are then dropped, whatever their names.
   * Default: none are dropped.
   */
  readonly dropEqualBodiesFor?: number | undefined;
}
