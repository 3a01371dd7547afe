import {
  defineJob,
  type JobDefinition,
  type JobOptions,
  type JobRun,
  type ScheduleOptions,
} from "@fetchwork/documents/jobs";
import { checkOptions } from "../check-options.ts";
import type { ServiceParts } from "../service-parts.ts";

/** When a job is queued by itself. */
export type JobSchedule<Input> = Pick<ScheduleOptions<Input>, "cron" | "timeZone"> & {
  /** The input of each job. Default: none. */
  readonly input?: Input | undefined;
};

/** Options of a job: its name, its times, and its work. */
export interface BackgroundJobOptions<Input, Parsed = Input> extends JobOptions<Input, Parsed> {
  /** 1 to 64 ASCII letters, digits, `_`, `.` or `-` after a letter. */
  readonly name: string;
  /** The times at which it is queued, once each for all processes. Default: by `jobs.add` only. */
  readonly schedule?: JobSchedule<Input> | undefined;
  /**
   * Does the work; what it throws makes the job wait and be tried again. A job whose process ended
   * is run again, so its effects must be repeatable, or happen in `run.complete`.
   */
  readonly run: (input: Parsed, run: BackgroundJobRun) => unknown;
}

/** Facts about the run of a job, and parts of the service that the job works with. */
export interface BackgroundJobRun extends JobRun, ServiceParts {}

/** A job of a service, for its `jobs`, and for `jobs.add` of calls. */
export interface BackgroundJob<Input, Parsed = Input> extends JobDefinition<Input, Parsed> {
  readonly schedule: JobSchedule<Input> | undefined;
  /** Does the work; it is repeated when it throws, so it should be idempotent. */
  run(input: Parsed, run: BackgroundJobRun): unknown;
}

/** A job of any input. */
// oxlint-disable-next-line typescript/no-explicit-any -- the inputs of jobs in one list have nothing in common
export type AnyBackgroundJob = BackgroundJob<any, any>;

/**
 * Defines work that no request waits for: at the times of a schedule, or after a call has queued
 * it.
 *
 * @throws DocumentsTypeError `ERR_DOCUMENTS_OPTIONS`, ServiceError for unknown `schedule` options.
 *
 * @example
 * ```ts
 * export const nightly = backgroundJob({
 *   name: "nightly",
 *   schedule: { cron: "0 3 * * *", timeZone: "Europe/Berlin" },
 *   async run(_input, { store }) {
 *     await store.collection(cart.collection).removeMany({ where: { isPaid: false } });
 *   },
 * });
 * ```
 */
export function backgroundJob<Input = undefined, Parsed = Input>(
  options: BackgroundJobOptions<Input, Parsed>,
): BackgroundJob<Input, Parsed> {
  const { name, run, schedule, ...rest } = options;
  if (schedule) checkOptions("schedule", schedule, ["cron", "timeZone", "input"]);
  return { ...defineJob<Input, Parsed>(name, rest), run, schedule };
}
