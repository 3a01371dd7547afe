import { defineCollection, type Store, type Stored } from "@fetchwork/documents";
import type { IdempotencyStore, StoredAnswer } from "@fetchwork/middleware";

interface KeyRecord {
  readonly fingerprint: string;
  readonly owner: string;
  readonly answer?: StoredAnswer | undefined;
  /** Milliseconds since 1970. */
  readonly until: number;
}

const keys = defineCollection<KeyRecord>("agent_idempotency", { expires: { field: "until" } });

/** Keeps the answers for `Idempotency-Key` with the tasks, so that all servers know them. */
export function documentsIdempotency(store: Store): IdempotencyStore {
  const records = store.collection(keys);
  const isOwn = async (key: string, owner: string): Promise<boolean> =>
    (await records.get(key))?.owner === owner;
  return {
    async begin(key, { fingerprint, owner, lockFor }) {
      const record = { fingerprint, owner, until: Date.now() + lockFor };
      // One step, whoever else tries: who finds another owner came too late.
      const known = await records.upsert(record, { id: key, change: withoutMeta });
      if (known.owner === owner) return undefined;
      return { fingerprint: known.fingerprint, answer: known.answer };
    },
    async complete(key, { owner, answer, keepFor }) {
      if (await isOwn(key, owner))
        await records.update(key, { answer, until: Date.now() + keepFor });
    },
    async abandon(key, { owner }) {
      if (await isOwn(key, owner)) await records.remove(key);
    },
  };
}

function withoutMeta({ fingerprint, owner, answer, until }: Stored<KeyRecord>): KeyRecord {
  return { fingerprint, owner, until, ...(answer !== undefined && { answer }) };
}
