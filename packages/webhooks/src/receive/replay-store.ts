import type { UntypedEvent } from "../event-map.ts";
import type { MaybePromise } from "../maybe-promise.ts";

/** What a store knows about a delivery: nobody has it, somebody works on it, or it is done. */
export type ReplayState = "new" | "running" | "done";

/**
 * Remembers deliveries, so that each is handled once. Keys are the vendor's name, a colon and a digest; 128 characters
 * at most, and safe to store.
 */
export interface ReplayStore {
  /**
   * Takes a delivery, in one step, whoever else tries. `"new"`: it is the caller's now, for `lease` milliseconds; after
   * them it is new again, should the process have ended before it was done.
   */
  claim(key: string, lease: number): MaybePromise<ReplayState>;
  /** Marks a delivery as done, for `keepFor` milliseconds. */
  complete(key: string, keepFor: number): MaybePromise<void>;
  /** Gives a delivery back, because a handler failed: the next one of that key is new. */
  release(key: string): MaybePromise<void>;
}

/**
 * Options of replay protection. A delivery is a repetition when it has the signed identifier of one that was handled.
 * Without a signed identifier it is handled each time, because different events may have the same body.
 */
export interface ReplayOptions {
  /** Remembers deliveries. Default: a `memoryReplayStore` of its own. */
  readonly store?: ReplayStore | undefined;
  /** Milliseconds for which a handled delivery is remembered. Default: 24 hours. */
  readonly keepFor?: number | undefined;
  /** Milliseconds after which a delivery falls free whose process ended. Longer than any handler takes. Default: `60_000`. */
  readonly lease?: number | undefined;
  /**
   * Milliseconds for which deliveries without a signed identifier count as repetitions when their bodies are equal.
   * Genuine events with equal bodies are then dropped, whatever their names. Default: none are dropped.
   */
  readonly dropEqualBodiesFor?: number | undefined;
  /**
   * Called with each delivery that is dropped as a repetition, which is logged as a warning too. What it throws is
   * logged. Default: none.
   */
  readonly onDuplicate?: ((event: UntypedEvent) => unknown) | undefined;
}
