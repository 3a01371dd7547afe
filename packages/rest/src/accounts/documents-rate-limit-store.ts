import { createHash } from "node:crypto";
import { defineCollection, type CollectionDefinition, type Store } from "@fetchwork/documents";
import type { RateLimitStore, RateLimitVerdict } from "@fetchwork/middleware";

/** Requests of a key as the store keeps them, under the SHA-256 of the key. */
export interface StoredRequests {
  /** Number of each part of the window, and the requests in it, oldest first. */
  readonly parts: readonly (readonly [part: number, requests: number])[];
  /** When they are forgotten, in milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Where requests are counted; for `openStore`. */
export const rateLimitCollection: CollectionDefinition<StoredRequests> =
  defineCollection<StoredRequests>("rate-limits", { expires: { field: "expiresAt" } });

/** Parts of a window in which requests are counted together. */
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
 * Makes a store for `rateLimit` in the documents, which all processes share and which outlives them. Each request that
 * passes is a durable write, so it is for what is rare or costs more, such as sign-ins; where there is one process,
 * `memoryRateLimitStore` is the better one.
 *
 * A window is longer than asked for by less than a tenth, so that none of the asked length ever holds more requests.
 */
export function documentsRateLimitStore(store: Pick<Store, "collection">): RateLimitStore {
  const documents = store.collection(rateLimitCollection);
  return {
    async take(key, { limit, window }) {
      const now = Date.now();
      const length = Math.ceil(window / windowParts);
      const part = Math.floor(now / length);
      const expiresAt = now + (windowParts + 1) * length;
      const verdict = (isAllowed: boolean, parts: StoredRequests["parts"]): RateLimitVerdict => {
        const [oldest = part] = parts[0] ?? [];
        return {
          isAllowed,
          remaining: Math.max(limit - sum(parts), 0),
          resetAfter: (oldest + windowParts + 1) * length - now,
        };
      };
      try {
        const stored = await documents.upsert(
          { parts: [[part, 1]], expiresAt },
          {
            id: idOf(`${length} ${key}`),
            change(before) {
              const parts = before.parts.filter(([number]) => number >= part - windowParts);
              if (sum(parts) >= limit) throw new Refused(parts);
              return { parts: counted(parts, part), expiresAt };
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
  return parts.reduce((total, [, requests]) => total + requests, 0);
}

/** Clocks of several machines differ a little, so the part need not be the last one. */
function counted(parts: StoredRequests["parts"], part: number): StoredRequests["parts"] {
  const known = parts.some(([number]) => number === part);
  if (!known) return [...parts, [part, 1] as const].toSorted(([a], [b]) => a - b);
  return parts.map(([number, requests]) => [number, number === part ? requests + 1 : requests]);
}

/** Keys hold addresses of machines, which nobody has to read in the store. */
function idOf(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}
