import type { Stored } from "../api/document.ts";
import type { JobError, JobRecord, JobState, JobTables } from "./job-record.ts";

/** A job in the queue. */
export interface Job {
  readonly id: string;
  /** The name of its kind. */
  readonly job: string;
  /** Its state. It is `running` after about a second of work; before, `waiting`. */
  readonly state: JobState;
  /** The input as it was queued. */
  readonly input: unknown;
  /** Jobs with the same key run one after the other; `undefined` without a key. */
  readonly key: string | undefined;
  /** How many attempts failed. */
  readonly failures: number;
  /** Why the last attempt failed. */
  readonly error: JobError | undefined;
  /** Whether it was cancelled while it ran, and has not ended yet. */
  readonly isCancelling: boolean;
  /** Value that the handler returned. */
  readonly result: unknown;
  /** When it was queued; ISO 8601 in UTC, as all times. */
  readonly createdAt: string;
  /** The earliest time of its next attempt, if it is queued for later or tried again. */
  readonly dueAt: string | undefined;
  /** When the last attempt began. */
  readonly startedAt: string | undefined;
  /** When it was done, dead or cancelled. */
  readonly finishedAt: string | undefined;
}

/** Reads a job, whether it is done or not. */
export async function readJob({ jobs, done }: JobTables, id: string): Promise<Job | undefined> {
  const record = await jobs.get(id);
  if (record !== undefined) return toJob(record);
  const [ended] = await done.find({ where: { jobId: id }, limit: 1, sort: ["jobId"] });
  return ended === undefined ? undefined : toJob(ended);
}

/** Converts a stored job to what `get` and `list` return. */
export function toJob(record: Stored<JobRecord>): Job {
  const { jobId: id = record.id, queuedAt: createdAt = record.createdAt } = record;
  const { job, state, input, key, failures = 0, error } = record;
  const { cancelRequested = false, result } = record;
  const { dueAt, startedAt, finishedAt } = record;
  return {
    id,
    job,
    state,
    input,
    key,
    failures,
    error,
    isCancelling: cancelRequested && (state === "waiting" || state === "running"),
    result,
    createdAt,
    dueAt,
    startedAt,
    finishedAt,
  };
}
