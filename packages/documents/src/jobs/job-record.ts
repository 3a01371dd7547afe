import { createHash } from "node:crypto";
import type { Collection } from "../api/collection.ts";
import { type CollectionDefinition, defineCollection } from "../api/definition.ts";
import type { Transaction } from "../api/transaction.ts";

/** States of a job. */
export const jobStates = [
  /** Another job of its key comes first. */
  "blocked",
  "cancelled",
  /** The job failed as often as it may. */
  "dead",
  /** The job is queued for later, or failed and is tried again later. */
  "delayed",
  "done",
  "running",
  "waiting",
] as const;

/** State of a job. */
export type JobState = (typeof jobStates)[number];

/** Why an attempt failed. */
export interface JobError {
  readonly name: string;
  readonly message: string;
}

/** A job as it is stored. */
export interface JobRecord {
  readonly job: string;
  readonly state: JobState;
  /** State and place of the job: the one index of the queue. See the functions below. */
  readonly line: string;
  /** Absent where a job has none. */
  readonly input?: unknown;
  /** When a delayed job is due; ISO 8601. */
  readonly dueAt?: string;
  /** Jobs with the same key run one after the other. */
  readonly key?: string;
  /** Its place among the jobs of its key. */
  readonly place?: number;
  /** How many attempts failed. */
  readonly failures?: number;
  /** Whether the process that runs it was asked to cancel it. */
  readonly cancelRequested?: boolean;
  /** Value that the handler returned, as JSON. */
  readonly result?: unknown;
  /** Failure of the last attempt. */
  readonly error?: JobError;
  readonly startedAt?: string;
  readonly finishedAt?: string;
  /** Id and queue time of a finished job, which is a document of another collection. */
  readonly jobId?: string;
  readonly queuedAt?: string;
}

/** The unfinished jobs of a key. Exactly one is not blocked; without jobs there is no record. */
export interface KeyLine {
  /** The place of the last job that joined. */
  readonly last: number;
  /** The place of the job whose turn it is. */
  readonly turn: number;
}

/** A schedule as it is stored. */
export interface ScheduleRecord {
  readonly job: string;
  readonly cron: string;
  readonly timeZone: string;
  /** The last time that was queued, or when the schedule was set. */
  readonly lastAt: string;
}

/** Collections of a queue for `openStore(url, { collections })`; else made at first use. */
export const jobCollections: {
  readonly jobs: CollectionDefinition<JobRecord>;
  /** Finished jobs, kept apart: the queue stays small, and many end in few statements. */
  readonly done: CollectionDefinition<JobRecord>;
  readonly lines: CollectionDefinition<KeyLine>;
  readonly schedules: CollectionDefinition<ScheduleRecord>;
} = {
  jobs: defineCollection<JobRecord>("job-queue", { indexes: ["line"] }),
  done: defineCollection<JobRecord>("job-done", { indexes: ["line", "jobId"] }),
  lines: defineCollection<KeyLine>("job-lines"),
  schedules: defineCollection<ScheduleRecord>("job-schedules"),
};

/** The collections of a queue, in a store or in a transaction. */
export interface JobTables {
  readonly jobs: Collection<JobRecord>;
  readonly done: Collection<JobRecord>;
  readonly lines: Collection<KeyLine>;
}

/** Returns the collections of a queue. */
export function tablesOf(place: Pick<Transaction, "collection">): JobTables {
  return {
    jobs: place.collection(jobCollections.jobs),
    done: place.collection(jobCollections.done),
    lines: place.collection(jobCollections.lines),
  };
}

const forEver = "9999-12-31T23:59:59.999Z";
const maxTime = Date.parse(forEver);

/** Writes a time up to the end of the year 9999, so that texts sort as the times do. */
export function timeText(time: number): string {
  return time >= maxTime ? forEver : new Date(time).toISOString();
}

/** Everything in one state, or one kind of job of it. A running job stays there, leased. */
export function linePrefix(state: JobState, job?: string): string {
  const place = state === "running" ? "waiting" : state;
  return job === undefined ? `${place}/` : `${place}/${job}/`;
}

/** Where a job waits for its time. */
export function delayedLine(job: string, dueAt: string): string {
  return linePrefix("delayed", job) + dueAt;
}

/** Where the jobs of a key wait behind the first one. */
export function blockedPrefix(job: string, key: string): string {
  return `${linePrefix("blocked", job)}${keyLineId(job, key)}/`;
}

/** Where a job of a key waits behind the first one. */
export function blockedLine(job: string, key: string, place: number): string {
  return blockedPrefix(job, key) + String(place).padStart(16, "0");
}

/** Where a job that ended is kept, by the end of that time. */
export function endedLine(state: JobState, job: string, until: number): string {
  return linePrefix(state, job) + timeText(until);
}

/** The id of the line of a key: a key may be any text. */
export function keyLineId(job: string, key: string): string {
  return createHash("sha256").update(`${job}/${key}`).digest("base64url");
}

/** Where a job goes that may run from a time on. */
export function placeFrom(
  job: string,
  dueAt: string | undefined,
  now: number,
): Pick<JobRecord, "line" | "state"> {
  if (dueAt !== undefined && dueAt > timeText(now)) {
    return { state: "delayed", line: delayedLine(job, dueAt) };
  }
  return { state: "waiting", line: linePrefix("waiting", job) + timeText(now) };
}
