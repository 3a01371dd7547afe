import { defineCollection, type CollectionDefinition, type Store } from "@fetchwork/documents";
import { type Attempts, type AttemptStore, waitOf } from "../attempt-store.ts";
import { digestOf } from "./secret-token.ts";

/** Attempts as the store keeps them, under the SHA-256 of their key, which holds an address. */
export interface StoredAttempts extends Attempts {
  /** When they are forgotten, in milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Where attempts are kept; for `openStore`. */
export const attemptCollection: CollectionDefinition<StoredAttempts> =
  defineCollection<StoredAttempts>("sign-in-attempts", { expires: { field: "expiresAt" } });

/** Ends a change that is not to be made. */
class Refused extends Error {
  readonly wait: number;

  constructor(wait: number) {
    super("too many attempts");
    this.wait = wait;
  }
}

/**
 * Makes a store in the documents, which all processes share and which outlives them. Each attempt
 * is one or two durable writes, so where there is one process, its memory is better.
 */
export function documentsAttemptStore(store: Pick<Store, "collection">): AttemptStore {
  const documents = store.collection(attemptCollection);
  return {
    async begin(key, rule) {
      const now = Date.now();
      const times = { last: now, expiresAt: now + rule.memory };
      try {
        await documents.upsert(
          { failures: 1, ...times },
          {
            id: digestOf(key),
            change(before) {
              const wait = waitOf(before, rule, now);
              if (wait > 0) throw new Refused(wait);
              return { failures: before.failures + 1, ...times };
            },
          },
        );
        return 0;
      } catch (error) {
        if (error instanceof Refused) return error.wait;
        throw error;
      }
    },
    async refund(key, count) {
      await documents.update(digestOf(key), ({ failures }) => ({
        failures: Math.max(failures - count, 0),
      }));
    },
    async forget(key) {
      await documents.remove(digestOf(key));
    },
    async trust(key, lifetime) {
      const now = Date.now();
      const trusted = { failures: 0, last: now, expiresAt: now + lifetime };
      await documents.upsert(trusted, { id: digestOf(`trust ${key}`) });
    },
    async isTrusted(key) {
      return (await documents.get(digestOf(`trust ${key}`))) !== undefined;
    },
  };
}
