import { queryError } from "../api/errors.ts";
import { checkQueryOptions } from "../api/check-options.ts";
import { type Job, toJob } from "./job.ts";
import { type JobState, jobStates, type JobTables, linePrefix } from "./job-record.ts";

/** Selects and pages jobs. */
export interface JobQuery {
  /** State of the jobs. Default: anything but `done`, and the newest first. */
  readonly state?: JobState | undefined;
  /** The name of their kind; only with `state`. Default: all kinds. */
  readonly job?: string | undefined;
  /** The maximum number of jobs, 1 to 10,000. Default: `100`. */
  readonly limit?: number | undefined;
  /** The `next` of the page before. Default: the first page. */
  readonly after?: string | undefined;
}

/** Some jobs: those of one state by their kind, then in the order of the queue. */
export interface JobPage {
  readonly items: readonly Job[];
  /** For `after`; `undefined` on the last page. */
  readonly next: string | undefined;
}

/** Lists jobs. */
export async function listJobs({ jobs, done }: JobTables, query: JobQuery): Promise<JobPage> {
  checkQueryOptions("list", query, ["state", "job", "limit", "after"]);
  const { state, job, limit = 100, after } = query;
  if (state !== undefined && !jobStates.includes(state)) {
    const known = jobStates.map((each) => JSON.stringify(each)).join(", ");
    throw queryError(`"state" must be one of ${known}`);
  }
  if (job !== undefined && (typeof job !== "string" || state === undefined)) {
    throw queryError('"job" must be a name, and needs "state"');
  }
  const paging = { limit, after, total: "none" } as const;
  const { items, next } = await (state === "done" ? done : jobs).page(
    state === undefined
      ? paging
      : { ...paging, where: { state, line: { prefix: linePrefix(state, job) } }, sort: ["line"] },
  );
  return { items: items.map(toJob), next };
}
