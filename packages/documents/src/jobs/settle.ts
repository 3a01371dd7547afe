import { backoffDelay } from "@fetchwork/kit";
import type { Stored } from "../api/document.ts";
import { DocumentsError } from "../api/errors.ts";
import type { Lease } from "../api/lease.ts";
import type { DefinedOptions } from "./define-job.ts";
import {
  delayedLine,
  endedLine,
  type JobError,
  type JobRecord,
  type JobTables,
  timeText,
} from "./job-record.ts";
import { leaveLine } from "./key-lines.ts";

/** How an attempt ended. */
export type Outcome =
  | { readonly kind: "cancelled" }
  | { readonly kind: "done"; readonly result: unknown }
  | { readonly kind: "failed"; readonly error: unknown; readonly isFinal: boolean };

/** The options that decide what happens to a job when an attempt ends. */
export type EndOptions = Pick<
  DefinedOptions<never, never>,
  "backoff" | "keep" | "keepDead" | "retries"
>;

/** An attempt that ended. */
export interface Ended {
  readonly lease: Pick<Lease<JobRecord>, "attempt" | "document" | "token">;
  readonly startedAt: number;
  readonly outcome: Outcome;
}

const maxMessage = 1000;
const baseDelay = 1000;
const maxDelay = 3_600_000;

/**
 * Writes what became of a job and releases its lease, inside of a transaction.
 *
 * The lease is the proof that nobody else decides about the job: with another one, or none, nothing
 * is written.
 *
 * @throws {DocumentsError} `ERR_DOCUMENTS_LEASE`
 * @throws {InputError} When the result cannot be stored.
 */
export async function settle(
  tables: JobTables,
  { lease, startedAt, outcome }: Ended,
  options: EndOptions,
): Promise<void> {
  const { document, token } = lease;
  const now = Date.now();
  const { jobs, done } = tables;
  const change = changeOf(document, { startedAt, outcome }, { options, now });
  if (change === "remove" || change.state === "done") {
    const kept =
      change === "remove" ? undefined : await done.insert({ ...doneFields(document), ...change });
    try {
      if (!(await jobs.remove(document.id, { lease: token }))) throw goneError(document.id);
    } catch (error) {
      // The transaction may go on with other jobs.
      if (kept !== undefined) await done.remove(kept.id);
      throw error;
    }
  } else {
    const changed = await jobs.update(document.id, change, { lease: token });
    if (changed === undefined) throw goneError(document.id);
    await jobs.release(lease);
  }
  if (change === "remove" || change.finishedAt !== undefined) {
    await leaveLine(tables, document, now);
  }
}

/**
 * Writes the ends of jobs that are done and that no other job waits for. Two statements write all
 * of them. Their leases are not checked: a job that another process took over is done all the same,
 * unless that process ended it. A job that failed or was cancelled since has another `line` and is
 * left alone. So is a later one with the same id.
 *
 * @throws {DocumentsError} `ERR_DOCUMENTS_LEASE` when one of them was ended by another process.
 * @throws {InputError} When a result cannot be stored.
 */
export async function settleDone(
  { jobs, done }: JobTables,
  ended: readonly { readonly ended: Ended; readonly options: EndOptions }[],
): Promise<void> {
  const now = Date.now();
  const kept: JobRecord[] = [];
  for (const { ended: each, options } of ended) {
    const { document } = each.lease;
    const change = changeOf(document, each, { options, now });
    if (change !== "remove") kept.push({ ...doneFields(document), ...change });
  }
  const [first] = ended;
  if (first === undefined) return;
  const documents = ended.map(({ ended: { lease } }) => lease.document);
  const ids = documents.map(({ id }) => id);
  const lines = documents.map(({ line }) => line);
  const count = await jobs.removeMany({ where: { id: { in: ids }, line: { in: lines } } });
  if (count < ids.length) throw goneError(first.ended.lease.document.id);
  if (kept.length > 0) await done.insertMany(kept);
}

/** Returns the fields that a job keeps once it is done. */
function doneFields({
  id,
  version: _version,
  createdAt,
  updatedAt: _updatedAt,
  place: _place,
  cancelRequested: _cancelRequested,
  ...fields
}: Stored<JobRecord>): JobRecord {
  return { ...fields, jobId: id, queuedAt: createdAt };
}

type RecordChange = { readonly [K in keyof JobRecord]?: JobRecord[K] };

function changeOf(
  { job, failures = 0 }: Stored<JobRecord>,
  { startedAt, outcome }: Pick<Ended, "outcome" | "startedAt">,
  { options, now }: { readonly options: EndOptions; readonly now: number },
): RecordChange | "remove" {
  const finishedAt = timeText(now);
  const times = { startedAt: timeText(startedAt), finishedAt };
  if (outcome.kind === "failed") {
    const failed = { failures: failures + 1, error: describeError(outcome.error) };
    if (outcome.isFinal || failed.failures > options.retries) {
      if (options.keepDead === 0) return "remove";
      const line = endedLine("dead", job, now + options.keepDead);
      return { state: "dead", line, ...failed, ...times };
    }
    const dueAt = timeText(now + delayAfter(failed.failures, options));
    const line = delayedLine(job, dueAt);
    return { state: "delayed", line, dueAt, ...failed, startedAt: times.startedAt };
  }
  if (options.keep === 0) return "remove";
  const state = outcome.kind;
  const line = endedLine(state, job, now + options.keep);
  if (outcome.kind === "cancelled" || outcome.result === undefined)
    return { state, line, ...times };
  return { state, line, ...times, result: outcome.result };
}

/** Another process had taken the job over, and ended it. */
function goneError(id: string): DocumentsError {
  return new DocumentsError("ERR_DOCUMENTS_LEASE", `the job "${id}" was ended by another process`);
}

function delayAfter(failures: number, { backoff }: Pick<EndOptions, "backoff">): number {
  return backoffDelay(failures, {
    baseDelay: backoff.baseDelay ?? baseDelay,
    maxDelay: backoff.maxDelay ?? maxDelay,
    factor: backoff.factor,
    jitter: [0.5, 1],
  });
}

/** Describes anything that was thrown, as text that any engine can store. */
function describeError(thrown: unknown): JobError {
  try {
    const isError = thrown instanceof Error;
    return {
      name: storable(isError ? thrown.name : typeof thrown),
      message: storable(isError ? thrown.message : String(thrown)),
    };
  } catch {
    return { name: typeof thrown, message: "an error that has no text" };
  }
}

function storable(text: unknown): string {
  return String(text).slice(0, maxMessage).replaceAll("\0", "").toWellFormed();
}
