import type { Store } from "../api/store.ts";
import { optionError } from "../api/errors.ts";
import { checkOptions } from "../api/check-options.ts";
import { addJob, type AddJobOptions } from "./add-job.ts";
import type { JobHandler } from "./attempt.ts";
import { cancelJob, retryJob } from "./control-job.ts";
import type { JobDefinition } from "./define-job.ts";
import { Finisher } from "./finisher.ts";
import { type Job, readJob } from "./job.ts";
import { tablesOf } from "./job-record.ts";
import { type JobPage, type JobQuery, listJobs } from "./list-jobs.ts";
import { purgeEnded } from "./purge.ts";
import { type ScheduleOptions, Schedules } from "./schedules.ts";
import { type JobFailure, type StopJobsOptions, Worker } from "./worker.ts";

/** Options of `createJobs`. */
export interface JobsOptions {
  /**
   * Receives the error of each failed attempt with its job, and errors of the store. The queue then
   * goes on by itself. The function must not throw. Default: none.
   */
  readonly onError?: ((error: unknown, failure?: JobFailure) => void) | undefined;
  /**
   * How often to look for jobs that other processes queued, in milliseconds from 10. Jobs of this
   * process are seen at once. Default: `200`.
   */
  readonly pollInterval?: number | undefined;
  /**
   * Milliseconds after which another process takes over a job whose process stopped, from 1,000. It
   * is renewed while the handler runs. Default: `30_000`.
   */
  readonly lease?: number | undefined;
}

/** Works on jobs of one kind. */
export interface JobWorker {
  /** Begins nothing more, and waits for the jobs that run. */
  stop(options?: StopJobsOptions): Promise<void>;
}

/** A queue of jobs in a store. */
export interface Jobs extends AsyncDisposable {
  /**
   * Queues a job; resolves to its id when it is durable. In a transaction, the job is queued with
   * its changes, or not at all.
   *
   * @throws {InputError} For an input that the schema rejects or that cannot be stored.
   * @throws {UniqueError} When a job of another kind has the id.
   */
  add<Input, Parsed>(
    job: JobDefinition<Input, Parsed>,
    input: NoInfer<Input>,
    options?: AddJobOptions,
  ): Promise<string>;

  /**
   * Runs jobs of one kind in this process, until the worker stops. A job whose process died is run
   * again, so a handler must accept a job that it has begun before; `complete` makes what it
   * changes in the store happen once.
   */
  work<Input, Parsed>(job: JobDefinition<Input, Parsed>, handler: JobHandler<Parsed>): JobWorker;

  /**
   * Queues a job at the times of a schedule, for as long as this process runs. Any number of
   * processes may set the same schedule: each time is queued once. The last one of the times at
   * which none of them ran is queued.
   *
   * @throws {DocumentsTypeError} `ERR_DOCUMENTS_OPTIONS` for times or a time zone that are invalid.
   */
  schedule<Input, Parsed>(
    name: string,
    job: JobDefinition<Input, Parsed>,
    options: ScheduleOptions<NoInfer<Input>>,
  ): Promise<void>;

  /** Ends a schedule in every process; resolves to whether there was one. */
  unschedule(name: string): Promise<boolean>;

  /** Reads a job; `undefined` when there is none. */
  get(id: string): Promise<Job | undefined>;

  /** Lists jobs, by pages. */
  list(query?: JobQuery): Promise<JobPage>;

  /**
   * Cancels a job that has not ended; resolves to whether there was one. A running one is cancelled
   * when its process notices, within about a second: its signal aborts, and `complete` no longer
   * changes anything.
   */
  cancel(id: string): Promise<boolean>;

  /** Queues a dead or cancelled job once more; resolves to whether there was one. */
  retry(id: string): Promise<boolean>;

  /** Ends schedules and stops all workers; the store stays open. */
  close(options?: StopJobsOptions): Promise<void>;
}

const purgeInterval = 60_000;
const maxTimer = 0x7fff_ffff;

/**
 * Makes a queue of jobs in a store. All of its jobs are in collections of the store, which is all
 * that processes share.
 *
 * @throws {DocumentsTypeError} `ERR_DOCUMENTS_OPTIONS`
 * @example
 * ```ts
 * const jobs = createJobs(store);
 * jobs.work(sendMail, ({ to, subject }, { signal }) => deliver(to, subject, signal));
 * await jobs.add(sendMail, { to: "ann@example.com", subject: "Welcome" });
 * ```
 */
export function createJobs(store: Store, options: JobsOptions = {}): Jobs {
  checkOptions("createJobs", options, ["onError", "pollInterval", "lease"]);
  const { onError = () => undefined, pollInterval = 200, lease = 30_000 } = options;
  if (!(pollInterval >= 10 && pollInterval <= maxTimer)) {
    throw optionError('"pollInterval" must be a number of milliseconds from 10');
  }
  if (!(lease >= 1000 && lease <= 86_400_000)) {
    throw optionError('"lease" must be a number of milliseconds from 1000 to a day');
  }
  const workers = new Map<string, Set<AnyWorker>>();
  const workersOf = (job: string): Set<AnyWorker> => workers.get(job) ?? new Set();
  const wake = (job: string): void => {
    for (const worker of workersOf(job)) worker.wake();
  };
  const finisher = new Finisher(store, onError);
  const context = { store, onError, pollInterval, lease, finisher, onEnded: wake };
  const schedules = new Schedules(store, { error: onError, added: wake });
  let purger: NodeJS.Timeout | undefined;
  let purging: Promise<void> | undefined;
  let closing: Promise<void> | undefined;

  function purge(): void {
    purging ??= purgeEnded(tablesOf(store))
      .catch((error: unknown) => onError(error))
      .finally(() => {
        purging = undefined;
      });
  }

  async function stopAll(grace: StopJobsOptions | undefined): Promise<void> {
    const all = [...workers.values()].flatMap((each) => [...each]);
    const stopped = all.map((worker) => worker.stop(grace));
    await Promise.all([schedules.stop(), purging, ...stopped]);
  }

  const jobs: Jobs = {
    add: async (job, input, added = {}) => {
      const id = await addJob(store, job, input, added);
      for (const worker of workersOf(job.name)) {
        if (added.transaction === undefined) worker.wake();
        else worker.nudge();
      }
      return id;
    },
    work: (job, handler) => {
      if (typeof handler !== "function") {
        throw optionError("the handler of a job must be a function");
      }
      if (closing !== undefined) throw optionError("the queue is closed");
      const worker = new Worker(context, job, handler);
      const alike = workersOf(job.name);
      alike.add(worker);
      workers.set(job.name, alike);
      purger ??= setInterval(purge, purgeInterval).unref();
      return {
        stop: async (grace) => {
          await worker.stop(grace);
          alike.delete(worker);
        },
      };
    },
    schedule: (name, job, times) => schedules.set(name, job, times),
    unschedule: (name) => schedules.remove(name),
    get: (id) => readJob(tablesOf(store), id),
    list: (query = {}) => listJobs(tablesOf(store), query),
    cancel: async (id) => {
      const cancelled = await cancelJob(store, id);
      if (cancelled === undefined) return false;
      for (const worker of workersOf(cancelled.job)) {
        worker.cancel(id);
        worker.wake();
      }
      return true;
    },
    retry: async (id) => {
      const retried = await retryJob(store, id);
      if (retried !== undefined) wake(retried.job);
      return retried !== undefined;
    },
    close: (grace) => {
      clearInterval(purger);
      closing ??= stopAll(grace);
      return closing;
    },
    [Symbol.asyncDispose]: () => jobs.close(),
  };
  return jobs;
}

type AnyWorker = Pick<Worker<unknown, unknown>, "cancel" | "nudge" | "stop" | "wake">;
