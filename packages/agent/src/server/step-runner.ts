import { DocumentsError, type Stored } from "@fetchwork/documents";
import { addUsage, type Usage } from "../calls/budget.ts";
import { AgentError } from "../errors.ts";
import { readContent } from "./content-parts.ts";
import { HttpFailure, notFound } from "./http-failure.ts";
import { Interruption, toHttpFailure, toStepFailure } from "./step-failure.ts";
import { storableObject, storableText } from "./storable.ts";
import type { AgentTask, RunningStep, TaskAgent } from "./task-agent.ts";
import type { TaskBus } from "./task-bus.ts";
import type { StepRecord, TaskRecord } from "./task-records.ts";
import { newFiles } from "./put-file.ts";
import { RunningTask, type StepUse } from "./running-task.ts";
import type { StepInput, StepLease } from "./step-leases.ts";
import type { TaskStore } from "./task-store.ts";
import { TaskSlots } from "./task-slots.ts";

/** Options of a StepRunner. */
export interface StepRunnerOptions {
  readonly store: TaskStore;
  readonly bus: TaskBus;
  readonly agent: TaskAgent;
  /** Milliseconds after which a step of a server that is gone is run by another one. */
  readonly lease: number;
  readonly reportError: (error: unknown) => void;
}

/** Milliseconds between two looks at a task whose steps run in another process. */
const pollInterval = 250;
/** Milliseconds between checks whether another server canceled the task of a running step. */
const longestWatch = 1_000;
/** A longer text is only kept as a file. */
const longestOutput = 1_048_576;

/** Runs steps of tasks, each under a lease, so that no two servers run the same one. */
export class StepRunner {
  readonly #options: StepRunnerOptions;
  readonly #slots = new TaskSlots();
  readonly #running = new Map<string, RunningTask>();
  readonly #unfinished = new Set<Promise<unknown>>();
  #stopped = false;
  #ended = false;

  constructor(options: StepRunnerOptions) {
    this.#options = options;
  }

  /**
   * Runs the next step of a task: the first that waits for nothing. Waits while only steps are left
   * that wait for running ones. A task without steps that are left returns its last step again.
   *
   * @throws HttpFailure 404, 409 for a canceled task, else what the step failed with
   */
  async runNext(
    taskId: string,
    sent: StepInput,
    waiting: AbortSignal,
  ): Promise<Stored<StepRecord>> {
    const { store, agent, bus } = this.#options;
    let { additionalInput } = sent;
    for (;;) {
      const task = await store.tasks.get(taskId);
      if (task === undefined) throw notFound("task");
      if (task.state === "canceled") {
        throw new HttpFailure(409, "ERR_AGENT_CANCELLED", "the task was canceled");
      }
      if (task.open === 0) {
        const wanted = additionalInput["continue"] === true ? (sent.input ?? "") : undefined;
        if (wanted === undefined) return await this.#lastStep(taskId);
        const steps = agent.onContinue?.(toAgentTask(task), wanted) ?? [];
        if (steps.length === 0) return await this.#lastStep(taskId);
        // When another request was faster, this one is for what comes after that.
        const added = await store.addSteps(taskId, steps);
        if (added) additionalInput = { ...additionalInput, continue: undefined };
        continue;
      }
      const limit = agent.concurrency?.(toAgentTask(task)) ?? 8;
      const release = await this.#slots.take(taskId, limit, waiting);
      let lease: StepLease | undefined;
      try {
        if (this.#stopped) throw toHttpFailure(stopping());
        lease = await store.claim(taskId, this.#options.lease);
        const step = lease && (await this.#track(this.#run(lease, sent)));
        if (step !== undefined) return step;
      } finally {
        release();
      }
      await bus.changed(taskId, waiting, { time: pollInterval });
    }
  }

  /** Ends the steps of a task that run in this process. */
  cancel(taskId: string): void {
    this.#abort(taskId, new AgentError("ERR_AGENT_CANCELLED", "the task was canceled"));
  }

  /** Begins no more steps; waits until running ones ended or are put back after this time. */
  async stop(gracePeriod: number): Promise<void> {
    this.#stopped = true;
    const timer = setTimeout(() => {
      this.#ended = true;
      for (const taskId of this.#running.keys()) this.#abort(taskId, stopping());
    }, gracePeriod);
    // One that was just claimed is not in the list of those that can be ended yet.
    while (this.#unfinished.size > 0) await Promise.allSettled(this.#unfinished);
    clearTimeout(timer);
  }

  #abort(taskId: string, reason: Error): void {
    for (const controller of this.#running.get(taskId)?.steps ?? []) controller.abort(reason);
  }

  async #lastStep(taskId: string): Promise<Stored<StepRecord>> {
    const [last] = await this.#options.store.steps.find({
      where: { taskId },
      sort: ["-index"],
      limit: 1,
    });
    if (last === undefined) throw notFound("step");
    return last;
  }

  async #track<T>(promise: Promise<T>): Promise<T> {
    this.#unfinished.add(promise);
    try {
      return await promise;
    } finally {
      this.#unfinished.delete(promise);
    }
  }

  /** Undefined: the lease was over before the step began. */
  async #run(lease: StepLease, sent: StepInput): Promise<Stored<StepRecord> | undefined> {
    const { store, agent } = this.#options;
    const begun = await store.begin(lease, sent).catch((error: unknown) => {
      if (isLeaseOver(error)) return "over" as const;
      throw error;
    });
    if (begun === "over") return undefined;
    if (begun === undefined) {
      throw new HttpFailure(
        409,
        "ERR_AGENT_CANCELLED",
        "the task was canceled or stopped while the step ran",
      );
    }
    const { task, step } = begun;
    const controller = new AbortController();
    const limits = agent.limits?.(toAgentTask(task));
    const running = this.#running.get(task.id) ?? new RunningTask(task, limits);
    this.#running.set(task.id, running);
    running.steps.add(controller);
    const stop = this.#watch(lease, controller);
    if (this.#ended) controller.abort(stopping());
    let usage: Usage = { inputTokens: 0, outputTokens: 0, cost: 0, calls: 0 };
    const spend = (used: Usage): void => {
      usage = addUsage(usage, used);
    };
    let taken: StepUse | undefined;
    const use = (): StepUse => (taken ??= running.use(usage));
    try {
      const { signal } = controller;
      const { budget } = running;
      const result = await agent.onStep(this.#runningStep(task, step, { signal, budget, spend }));
      const files = newFiles(result);
      const { output = null, additionalOutput = {}, next = [], maxTotalBytes } = result;
      const finished = await store.finish(lease, {
        output: output === null || output.length > longestOutput ? null : storableText(output),
        additionalOutput: {
          state: "completed",
          attempts: step.attempts,
          usage,
          ...storableObject(additionalOutput),
        },
        files,
        maxTotalBytes,
        next: next.map(({ data = {}, ...rest }) => ({ ...rest, data: storableObject(data) })),
        use: use(),
      });
      if (finished === undefined) {
        throw new AgentError("ERR_AGENT_CANCELLED", "the task was canceled while the step ran");
      }
      return finished;
    } catch (error) {
      // The reason of the abort says better why the step failed than its error.
      const failure = isLeaseOver(error) ? tookOver() : error;
      const cause: unknown = controller.signal.aborted ? controller.signal.reason : failure;
      const isOurs = cause instanceof AgentError || cause instanceof Interruption;
      if (!isOurs) this.#options.reportError(cause);
      await this.#putBack(lease, { cause, use: use() });
      throw toHttpFailure(cause);
    } finally {
      stop();
      running.steps.delete(controller);
      if (running.steps.size === 0) {
        running.budget.end();
        this.#running.delete(task.id);
      }
    }
  }

  async #putBack(
    lease: StepLease,
    { cause, use }: { readonly cause: unknown; readonly use: StepUse },
  ): Promise<void> {
    try {
      const failure = toStepFailure(cause);
      await this.#options.store.putBack(lease, { failure, use, state: stateAfter(cause) });
    } catch (error) {
      // The owner of the lease now also has the step.
      if (!isLeaseOver(error)) this.#options.reportError(error);
    }
  }

  /** Renews the lease; ends the step when it is lost or another server cancels the task. */
  #watch(lease: StepLease, controller: AbortController): () => void {
    const { store, lease: expiry, reportError } = this.#options;
    const { taskId } = lease.document;
    const each = Math.ceil(expiry / 3);
    const interval = Math.min(each, longestWatch);
    let renewed = performance.now();
    const look = async (): Promise<void> => {
      const now = performance.now();
      // The next look would be too late.
      if (now - renewed + interval > each) {
        renewed = now;
        if (!(await store.steps.renew(lease, expiry))) return controller.abort(tookOver());
      }
      const task = await store.tasks.get(taskId);
      if (task === undefined || task.state === "canceled") this.cancel(taskId);
    };
    const timer = setInterval(() => void look().catch(reportError), interval);
    return () => clearInterval(timer);
  }

  #runningStep(
    task: Stored<TaskRecord>,
    step: Stored<StepRecord>,
    rest: Pick<RunningStep, "budget" | "signal" | "spend">,
  ): RunningStep {
    const { store, bus } = this.#options;
    const where = { taskId: task.id };
    return {
      ...rest,
      task: toAgentTask(task),
      id: step.id,
      name: step.name,
      data: step.data,
      input: step.input,
      additionalInput: step.additionalInput,
      attempt: step.attempts,
      files: async () => {
        const found = await store.artifacts.find({ where, sort: ["path"] });
        return found.map(({ path, agentCreated, versions }) => ({
          path,
          agentCreated,
          size: versions.at(-1)?.size ?? 0,
          hash: versions.at(-1)?.hash ?? "",
        }));
      },
      read: async (path, wanted) => {
        const [artifact] = await store.artifacts.find({ where: { ...where, path }, limit: 1 });
        const version = artifact?.versions.findLast(
          ({ hash }) => wanted === undefined || hash === wanted.hash,
        );
        if (version === undefined) return undefined;
        const parts = await Array.fromAsync(
          readContent(store.contents, { taskId: task.id, ...version }),
        );
        return Buffer.concat(parts).toString("utf8");
      },
      stream: (text) => bus.publish(task.id, { stepId: step.id, text }),
    };
  }
}

/** How a step ends that threw. */
function stateAfter(cause: unknown): "interrupted" | "canceled" | "failed" {
  if (cause instanceof Interruption) return "interrupted";
  return cause instanceof AgentError && cause.code === "ERR_AGENT_CANCELLED"
    ? "canceled"
    : "failed";
}

function toAgentTask({ id, input, additionalInput }: Stored<TaskRecord>): AgentTask {
  return { id, input, additionalInput };
}

function isLeaseOver(error: unknown): boolean {
  return error instanceof DocumentsError && error.code === "ERR_DOCUMENTS_LEASE";
}

function tookOver(): Interruption {
  return new Interruption("another server took the step over");
}

function stopping(): Interruption {
  return new Interruption("the server stops");
}
