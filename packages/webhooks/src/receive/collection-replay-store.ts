import type { ReplayStore } from "./replay-store.ts";

/** One delivery, as {@link collectionReplayStore} keeps it. */
export interface ReplayDocument {
  /** Whether its handlers have run. */
  readonly done: boolean;
  /** Milliseconds since 1970 until which it counts. */
  readonly until: number;
}

/** A document with its version. */
interface StoredReplay extends ReplayDocument {
  readonly version: number;
  readonly createdAt: string;
}

/** The part of a collection of `@fetchwork/documents` that is used here. */
interface ReplayCollection {
  insert(document: ReplayDocument, options: { readonly id: string }): Promise<unknown>;
  get(id: string): Promise<StoredReplay | undefined>;
  replace(id: string, to: ReplayDocument, options?: { ifVersion: StoredReplay }): Promise<unknown>;
  remove(id: string): Promise<boolean>;
  removeMany(selection: { where: { until: { lt: number } } }): Promise<number>;
}

/** Number of claims between two removals of expired documents. */
const claimsPerCleaning = 1000;

/**
 * Remembers deliveries in a collection of `@fetchwork/documents`, so that they survive restarts,
 * and several processes share them.
 *
 * Define the collection with an index on `until`; expired documents are removed from time to time.
 *
 * @example
 * ```ts
 * const deliveries = defineCollection<ReplayDocument>("webhook-deliveries", { indexes: ["until"] });
 * const replay = { store: collectionReplayStore(store.collection(deliveries)) };
 * ```
 */
export function collectionReplayStore(collection: ReplayCollection): ReplayStore {
  let claims = 0;
  const replace = (key: string, known: StoredReplay, to: ReplayDocument): Promise<boolean> =>
    tryTo(() => collection.replace(key, to, { ifVersion: known }), "ERR_DOCUMENTS_VERSION");
  return {
    claim: async (key, lease) => {
      claims += 1;
      if (claims % claimsPerCleaning === 0) {
        await collection.removeMany({ where: { until: { lt: Date.now() } } });
      }
      const insert = (): Promise<unknown> => collection.insert(claimed(lease), { id: key });
      if (await tryTo(insert, "ERR_DOCUMENTS_UNIQUE")) return "new";
      const known = await collection.get(key);
      // Released in between because its handlers failed. The sender will retry.
      if (known === undefined) return "running";
      if (known.until > Date.now()) return known.done ? "done" : "running";
      return (await replace(key, known, claimed(lease))) ? "new" : "running";
    },
    renew: async (key, lease) => {
      const known = await collection.get(key);
      if (known?.done === false) await replace(key, known, claimed(lease));
    },
    complete: async (key, keepFor) => {
      const done = { done: true, until: Date.now() + keepFor };
      if ((await collection.replace(key, done)) === undefined) {
        await tryTo(() => collection.insert(done, { id: key }), "ERR_DOCUMENTS_UNIQUE");
      }
    },
    release: async (key) => {
      await collection.remove(key);
    },
  };
}

const claimed = (lease: number): ReplayDocument => ({ done: false, until: Date.now() + lease });

/** Returns whether a change was made, and not refused with this code. */
async function tryTo(change: () => Promise<unknown>, refusal: string): Promise<boolean> {
  try {
    return (await change()) !== undefined;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === refusal) return false;
    throw error;
  }
}
