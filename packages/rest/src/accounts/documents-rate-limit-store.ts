import { defineCollection, type CollectionDefinition, type Store } from "@fetchwork/documents";
import type { RateLimitStore, RateLimitVerdict } from "@fetchwork/middleware";
import { digestOf } from "./secret-token.ts";

/** Requests of a key as the store keeps them, under its SHA-256, since a key holds an address. */
export interface StoredRequests {
  /** First and last request of each part of the window, and count, oldest first. */
  readonly parts: readonly (readonly [first: number, last: number, requests: number])[];
  /** When they are forgotten, in milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Where requests are counted; for `openStore`. */
export const rateLimitCollection: CollectionDefinition<StoredRequests> =
  defineCollection<StoredRequests>("rate-limits", { expires: { field: "expiresAt" } });

/** Maximum number of parts of a window in which requests are counted together. */
const windowParts = 10;

/** Ends a change that is not to be made. */
class Refused extends Error {
  readonly parts: StoredRequests["parts"];

  constructor(parts: StoredRequests["parts"]) {
    super("too many requests");
    this.parts = parts;
  }
}

/**
 * Makes a store for `rateLimit` in the documents, which all processes share and which outlives
 * them. Each request that passes is a durable write. So it is for what is rare or costs more, such
 * as sign-ins; where there is one process, `memoryRateLimitStore` is the better one.
 *
 * Up to ten requests are counted one by one. Further ones within a tenth of the window are counted
 * together until the last of them leaves it. So no window holds more than the limit.
 */
export function documentsRateLimitStore(store: Pick<Store, "collection">): RateLimitStore {
  const documents = store.collection(rateLimitCollection);
  return {
    async take(key, { limit, window }) {
      const now = Date.now();
      const length = limit <= windowParts ? 0 : window / windowParts;
      const expiresAt = now + window;
      const verdict = (isAllowed: boolean, parts: StoredRequests["parts"]): RateLimitVerdict => {
        const [, oldest = now] = parts[0] ?? [];
        return {
          isAllowed,
          remaining: Math.max(limit - sum(parts), 0),
          resetAfter: oldest + window - now,
        };
      };
      try {
        const stored = await documents.upsert(
          { parts: [[now, now, 1]], expiresAt },
          {
            id: digestOf(`${window} ${key}`),
            change(before) {
              const parts = before.parts.filter(([, last]) => last > now - window);
              if (sum(parts) >= limit) throw new Refused(parts);
              return { parts: counted(parts, now, length), expiresAt };
            },
          },
        );
        return verdict(true, stored.parts);
      } catch (error) {
        if (error instanceof Refused) return verdict(false, error.parts);
        throw error;
      }
    },
  };
}

function sum(parts: StoredRequests["parts"]): number {
  return parts.reduce((total, [, , requests]) => total + requests, 0);
}

/** Clocks of machines differ a little: the newest part may be of a later time than now. */
function counted(
  parts: StoredRequests["parts"],
  now: number,
  length: number,
): StoredRequests["parts"] {
  const newest = parts.at(-1);
  if (newest === undefined || now - newest[0] > length) return [...parts, [now, now, 1]];
  const [first, last, requests] = newest;
  return [...parts.slice(0, -1), [first, Math.max(last, now), requests + 1]];
}
