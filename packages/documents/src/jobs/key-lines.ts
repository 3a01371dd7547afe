import type { Stored } from "../api/document.ts";
import {
  blockedLine,
  blockedPrefix,
  type JobRecord,
  type JobTables,
  keyLineId,
  placeFrom,
} from "./job-record.ts";

/**
 * Puts a job that is added or tried again at the end of its key's line, inside of a transaction.
 * Every change of a line writes its record, so two of them never pass each other.
 */
export async function joinLine(
  { lines }: JobTables,
  { job, key, dueAt }: Pick<JobRecord, "dueAt" | "job" | "key">,
  now: number,
): Promise<Pick<JobRecord, "line" | "place" | "state">> {
  if (key === undefined) return placeFrom(job, dueAt, now);
  const { last, turn } = await lines.upsert(
    { last: 1, turn: 1 },
    {
      id: keyLineId(job, key),
      change: (stored) => ({ last: stored.last + 1, turn: stored.turn }),
    },
  );
  if (last === turn) return { ...placeFrom(job, dueAt, now), place: last };
  return { state: "blocked", line: blockedLine(job, key, last), place: last };
}

/** Lets the next job of a key begin when one has ended, inside of the transaction of its end. */
export async function leaveLine(
  tables: JobTables,
  { job, key, state }: Pick<JobRecord, "job" | "key" | "state">,
  now: number,
): Promise<void> {
  // One that never had its turn leaves a gap only.
  if (key === undefined || state === "blocked") return;
  const { jobs, lines } = tables;
  const next = await nextOf(tables, job, key);
  const id = keyLineId(job, key);
  if (next === undefined) {
    await lines.remove(id);
    return;
  }
  const { place = 0 } = next;
  await lines.update(id, { turn: place });
  await jobs.update(next.id, placeFrom(job, next.dueAt, now));
}

async function nextOf(
  { jobs }: JobTables,
  job: string,
  key: string,
): Promise<Stored<JobRecord> | undefined> {
  const where = { line: { prefix: blockedPrefix(job, key) } };
  return (await jobs.find({ where, sort: ["line"], limit: 1 }))[0];
}
