import { backoffDelay } from "@fetchwork/kit";
import type { Stored } from "../api/document.ts";
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

/** Options of a job that say what becomes of it. */
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
 * The lease is the proof that nobody else decides about the job: with another one, or none, nothing is written.
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
  const change = changeOf(document, { startedAt, outcome }, { options, now });
  if (change === "remove") {
    await tables.jobs.remove(document.id, { lease: token });
  } else {
    await tables.jobs.update(document.id, change, { lease: token });
    await tables.jobs.release(lease);
  }
  if (change === "remove" || change.finishedAt !== undefined)
    await leaveLine(tables, document, now);
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

function delayAfter(failures: number, { backoff }: Pick<EndOptions, "backoff">): number {
  return backoffDelay(failures, {
    baseDelay: backoff.baseDelay ?? baseDelay,
    maxDelay: backoff.maxDelay ?? maxDelay,
    factor: backoff.factor,
    jitter: [0.5, 1],
  });
}

/** Describes anything that was thrown, as text that any engine can store. */
export function describeError(thrown: unknown): JobError {
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
