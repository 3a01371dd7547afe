export type { AddJobOptions } from "./add-job.ts";
export type { JobHandler, JobRun } from "./attempt.ts";
export {
  defineJob,
  type DefinedOptions,
  type JobDefinition,
  type JobOptions,
} from "./define-job.ts";
export type { Job } from "./job.ts";
export {
  jobCollections,
  type JobRecord,
  type JobState,
  type KeyLine,
  type ScheduleRecord,
} from "./job-record.ts";
export { createJobs, type Jobs, type JobsOptions, type JobWorker } from "./jobs.ts";
export type { JobPage, JobQuery } from "./list-jobs.ts";
export type { ScheduleOptions } from "./schedules.ts";
export type { JobFailure } from "./worker.ts";
