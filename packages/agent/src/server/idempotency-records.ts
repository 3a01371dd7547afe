import { defineCollection, type Store, type Stored } from "@fetchwork/documents";
import type { IdempotencyStore, StoredResponse } from "@fetchwork/middleware";

interface KeyRecord {
  readonly fingerprint: string;
  readonly owner: string;
  readonly response?: StoredResponse | undefined;
  /** Milliseconds since 1970. */
  readonly until: number;
}

const keys = defineCollection<KeyRecord>("agent_idempotency", { expires: { field: "until" } });

interface Renewal {
  readonly timer: NodeJS.Timeout;
  running: Promise<void> | undefined;
}

/**
 * Keeps the responses for `Idempotency-Key` with the tasks, so that all servers know them.
 *
 * @param lease milliseconds until the key of a server that is gone is released
 */
export function documentsIdempotency(
  store: Store,
  lease: number,
  reportError: (error: unknown) => void,
): IdempotencyStore {
  const records = store.collection(keys);
  const renewals = new Map<string, Renewal>();
  const isOwn = async (key: string, owner: string): Promise<boolean> =>
    (await records.get(key))?.owner === owner;
  const end = async (owner: string): Promise<void> => {
    const renewal = renewals.get(owner);
    clearInterval(renewal?.timer);
    renewals.delete(owner);
    // Else it could shorten the time of the response.
    await renewal?.running;
  };
  return {
    async begin(key, { fingerprint, owner, lockFor }) {
      const latest = Date.now() + lockFor;
      const until = (): number => Math.min(Date.now() + lease, latest);
      const record = { fingerprint, owner, until: until() };
      // One step: a request that finds another owner came too late.
      const known = await records.upsert(record, { id: key, change: withoutMeta });
      if (known.owner !== owner)
        return { fingerprint: known.fingerprint, response: known.response };
      const renew = async (): Promise<void> => {
        if (renewals.has(owner) && (await isOwn(key, owner))) {
          await records.update(key, { until: until() });
        }
      };
      const timer = setInterval(
        () => {
          const renewal = renewals.get(owner);
          if (renewal !== undefined) renewal.running = renew().catch(reportError);
        },
        Math.ceil(lease / 3),
      );
      renewals.set(owner, { timer: timer.unref(), running: undefined });
      return undefined;
    },
    async complete(key, { owner, response, keepFor }) {
      await end(owner);
      if (await isOwn(key, owner))
        await records.update(key, { response, until: Date.now() + keepFor });
    },
    async abandon(key, { owner }) {
      await end(owner);
      if (await isOwn(key, owner)) await records.remove(key);
    },
  };
}

function withoutMeta({ fingerprint, owner, response, until }: Stored<KeyRecord>): KeyRecord {
  return { fingerprint, owner, until, ...(response !== undefined && { response }) };
}
