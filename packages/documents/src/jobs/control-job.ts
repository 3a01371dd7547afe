import type { Stored } from "../api/document.ts";
import type { Store } from "../api/store.ts";
import { type JobRecord, type JobState, tablesOf } from "./job-record.ts";
import { joinLine } from "./key-lines.ts";
import { settle } from "./settle.ts";

const ended: ReadonlySet<JobState> = new Set(["cancelled", "dead", "done"]);
const leaseTime = 10_000;
/** The definition says how long a job is kept, but a process that only cancels may not have it. */
const keep = 86_400_000;
const endOptions = { keep, keepDead: keep, retries: 0, backoff: {} };

/** Cancels a job, or asks its process to. Resolves to the job; `undefined` without one. */
export async function cancelJob(
  store: Store,
  id: string,
): Promise<Pick<JobRecord, "job"> | undefined> {
  const { jobs } = tablesOf(store);
  const stored = await jobs.get(id);
  if (stored === undefined || ended.has(stored.state)) return undefined;
  // The owner of the lease decides about a job: nobody runs one that can be claimed.
  const [lease] = await jobs.claim({ where: { id }, expiry: leaseTime });
  if (lease === undefined) return requestCancel(store, id);
  if (ended.has(lease.document.state)) {
    await jobs.release(lease);
    return undefined;
  }
  const outcome = { kind: "cancelled" } as const;
  await store.transaction(async (transaction) => {
    const tables = tablesOf(transaction);
    // It may have moved up in its line.
    const document = (await tables.jobs.get(id)) ?? lease.document;
    const startedAt = Date.parse(document.startedAt ?? document.createdAt);
    await settle(tables, { lease: { ...lease, document }, startedAt, outcome }, endOptions);
  });
  return stored;
}

/** Queues a dead or cancelled job once more. Resolves to the job; `undefined` without one. */
export function retryJob(store: Store, id: string): Promise<Pick<JobRecord, "job"> | undefined> {
  return store.transaction(async (transaction) => {
    const tables = tablesOf(transaction);
    const stored = await tables.jobs.get(id);
    if (stored?.state !== "dead" && stored?.state !== "cancelled") return undefined;
    const { dueAt: _dueAt, ...queued } = stored;
    const place = await joinLine(tables, queued, Date.now());
    return tables.jobs.replace(id, (record) => ({ ...withoutEnd(record), ...place }));
  });
}

async function requestCancel(store: Store, id: string): Promise<JobRecord | undefined> {
  const changed = await tablesOf(store).jobs.update(id, ({ state }) =>
    ended.has(state) ? {} : { cancelRequested: true },
  );
  return changed?.cancelRequested === true && !ended.has(changed.state) ? changed : undefined;
}

/** Leaves what a job has before its first attempt. */
function withoutEnd({ job, state, line, input, key }: Stored<JobRecord>): JobRecord {
  return {
    job,
    state,
    line,
    ...(input === undefined ? {} : { input }),
    ...(key === undefined ? {} : { key }),
  };
}
