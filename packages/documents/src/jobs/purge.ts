import type { Collection } from "../api/collection.ts";
import {
  endedLine,
  type JobRecord,
  type JobState,
  type JobTables,
  linePrefix,
} from "./job-record.ts";

const maxRemoved = 500;
/** Greater than every character of a line. */
const last = "~";

/** Removes jobs that ended and are no longer kept, of all kinds that are in the store. */
export async function purgeEnded({ jobs, done }: JobTables): Promise<void> {
  await purge(jobs, "cancelled");
  await purge(jobs, "dead");
  await purge(done, "done");
}

async function purge(jobs: Collection<JobRecord>, state: JobState): Promise<void> {
  const end = linePrefix(state) + last;
  // Goes from the first job of a kind to the first one of the next, and skips what is kept.
  for (let line = linePrefix(state); ;) {
    const [first] = await jobs.find({
      where: { line: { gte: line, lt: end } },
      sort: ["line"],
      limit: 1,
      fields: ["job"],
    });
    if (first?.job === undefined) return;
    await purgeKind(jobs, linePrefix(state, first.job), endedLine(state, first.job, Date.now()));
    line = linePrefix(state, first.job) + last;
  }
}

async function purgeKind(jobs: Collection<JobRecord>, begin: string, end: string): Promise<void> {
  for (;;) {
    const found = await jobs.find({
      where: { line: { gte: begin, lt: end } },
      sort: ["line"],
      limit: maxRemoved,
      fields: ["line"],
    });
    const until = found.at(-1)?.line;
    if (until === undefined) return;
    await jobs.removeMany({ where: { line: { gte: begin, lte: until } } });
    if (found.length < maxRemoved) return;
  }
}
