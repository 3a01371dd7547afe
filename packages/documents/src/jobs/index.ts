export type { JobHandler, JobRun } from "./attempt.ts";
export { defineJob, type JobDefinition, type JobOptions } from "./define-job.ts";
export type { Job } from "./job.ts";
export { jobCollections } from "./job-record.ts";
export { createJobs, type Jobs, type JobsOptions, type JobWorker } from "./jobs.ts";
export type { JobPage } from "./list-jobs.ts";
export type { ScheduleOptions } from "./schedules.ts";
export type { JobFailure } from "./worker.ts";
