import type { Lease } from "@fetchwork/documents";
import { HttpFailure } from "./http-failure.ts";
import type { StepRunner } from "./step-runner.ts";
import type { TaskAgent } from "./task-agent.ts";
import type { TaskRecord } from "./task-records.ts";
import type { TaskStore } from "./task-store.ts";

/** Options of {@link AutomaticTasks}. */
export interface AutomaticTasksOptions {
  readonly store: TaskStore;
  readonly runner: StepRunner;
  readonly agent: TaskAgent;
  /** Tasks that one server runs at the same time. */
  readonly limit: number;
  /** Milliseconds after which another server takes over the tasks of one that is gone. */
  readonly lease: number;
  /** Milliseconds between two looks for tasks of other servers, and for steps that were lost. */
  readonly pollInterval: number;
  readonly reportError: (error: unknown) => void;
}

const automatically = { input: null, additionalInput: {}, automatic: true };

/** Runs tasks without requests, step by step: in one server at a time, which may be replaced. */
export class AutomaticTasks {
  readonly #options: AutomaticTasksOptions;
  readonly #stop = new AbortController();
  readonly #running = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  /** Ends with the looks that are asked for so far. */
  #looking: Promise<void> = Promise.resolve();
  #isWanted = false;

  constructor(options: AutomaticTasksOptions) {
    this.#options = options;
  }

  /** Looks for tasks, now and from now on. */
  start(): void {
    this.#timer = setInterval(() => this.look(), this.#options.pollInterval);
    this.#timer.unref();
    this.look();
  }

  /** Looks for tasks now. */
  look(): void {
    if (this.#isWanted) return;
    this.#isWanted = true;
    this.#looking = this.#looking.then(() => this.#take()).catch(this.#options.reportError);
  }

  /** Takes no more tasks; resolves when this server's are released. The runner ends steps. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stop.abort(new Error("the server stops"));
    await this.#looking;
    await Promise.allSettled(this.#running);
  }

  async #take(): Promise<void> {
    this.#isWanted = false;
    if (this.#stop.signal.aborted) return;
    const { store, limit, lease: expiry } = this.#options;
    await store.recover("expired");
    const free = limit - this.#running.size;
    if (free <= 0) return;
    const leases = await store.tasks.claim({
      where: { automatic: true },
      sort: ["createdAt"],
      limit: free,
      expiry,
    });
    for (const lease of leases) {
      const run = this.#run(lease).catch(this.#options.reportError);
      this.#running.add(run);
      void run.finally(() => {
        this.#running.delete(run);
        this.look();
      });
    }
  }

  async #run(lease: Lease<TaskRecord>): Promise<void> {
    const { store, agent, lease: expiry, reportError } = this.#options;
    const { id, input, additionalInput } = lease.document;
    const ended = new AbortController();
    const signal = AbortSignal.any([this.#stop.signal, ended.signal]);
    const renew = async (): Promise<void> => {
      if (!(await store.tasks.renew(lease, expiry))) ended.abort(new Error("the lease is over"));
    };
    const timer = setInterval(() => void renew().catch(reportError), Math.ceil(expiry / 3));
    const workers = agent.concurrency?.({ id, input, additionalInput }) ?? 8;
    try {
      await Promise.all(
        Array.from({ length: workers }, async () => {
          await this.#work(id, signal);
          // The first who has nothing left to do, or cannot go on, ends the waiting of the others.
          ended.abort(new Error("the task has no steps left"));
        }),
      );
    } finally {
      clearInterval(timer);
      await store.tasks.release(lease);
    }
  }

  async #work(taskId: string, signal: AbortSignal): Promise<void> {
    const { store, runner, reportError } = this.#options;
    for (;;) {
      if (signal.aborted) return;
      const task = await store.tasks.get(taskId);
      if (task === undefined || !task.automatic || task.open === 0) return;
      try {
        await runner.runNext(taskId, automatically, signal);
      } catch (error) {
        // The failure of a step is stored in its task.
        if (!(error instanceof HttpFailure) && !signal.aborted) reportError(error);
        return;
      }
    }
  }
}
