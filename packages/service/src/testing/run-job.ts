import { setTimeout } from "node:timers/promises";
import type { Jobs } from "@fetchwork/documents/jobs";
import type { Service } from "../define-service.ts";
import { ServiceError } from "../errors.ts";
import type { BackgroundJob } from "../jobs/background-job.ts";

/** Between looks at the job. In milliseconds. */
const interval = 5;

/** Queues a job of a service with running jobs, and waits for its end; see `runJob`. */
export async function runJob<Input, Parsed>(
  { name, options }: Service,
  jobs: Jobs,
  job: BackgroundJob<Input, Parsed>,
  input?: Input,
): Promise<unknown> {
  if (!options.jobs?.some((one) => one.name === job.name)) {
    throw new ServiceError(`the service ${name} has no job ${job.name}, expected one of its jobs`);
  }
  // A job without input has the type `undefined` for it.
  const id = await jobs.add(job, (input ?? job.schedule?.input) as Input);
  for (;;) {
    const found = await jobs.get(id);
    if (found?.state === "done") return found.result;
    if (found === undefined || found.state === "cancelled") {
      throw new Error(`the job ${job.name} was cancelled`);
    }
    if (found.error) {
      await jobs.cancel(id);
      const { message, name: kind } = found.error;
      throw Object.assign(new Error(message), { name: kind });
    }
    await setTimeout(interval);
  }
}
