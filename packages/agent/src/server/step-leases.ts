import type { Lease, Store, Stored, Transaction } from "@fetchwork/documents";
import { addUsage } from "../calls/ask-model.ts";
import type { Usage } from "../calls/budget.ts";
import { arrangeSteps } from "./arrange-steps.ts";
import { TaskChanger, type NewEvent, type TaskChange } from "./change-task.ts";
import { checkTotal, putFile, type NewFile } from "./put-file.ts";
import type { JsonObject, NewStep } from "./task-agent.ts";
import type { TaskBus } from "./task-bus.ts";
import { TaskReader } from "./task-reader.ts";
import { chargeHeld, TaskSpending, workedUntilNow } from "./task-spending.ts";
import {
  taskCollections,
  type StepFailure,
  type StepRecord,
  type TaskRecord,
} from "./task-records.ts";

/** What a client says with a step. */
export interface StepInput {
  readonly input: string | null;
  readonly additionalInput: JsonObject;
  /** Whether a server runs the step by itself, as long as the task wants that. Default: somebody asked for it. */
  readonly automatic?: boolean | undefined;
}

/** What a finished step leaves. */
export interface FinishedStep {
  readonly output: string | null;
  readonly additionalOutput: JsonObject;
  readonly files: readonly NewFile[];
  /** Most bytes of all files of the task. */
  readonly maxTotalBytes?: number | undefined;
  readonly next: readonly NewStep[];
  readonly usage: Usage;
}

/** How often a server may end in a step, before no other one begins it by itself: the step may be why. */
const mostLosses = 5;

/** The right to run a step. */
export type StepLease = Lease<StepRecord>;

/** Steps of tasks, each of which runs under a lease. */
export class StepLeases extends TaskReader {
  readonly #changer: TaskChanger;
  readonly #bus: TaskBus;

  constructor(store: Store, bus: TaskBus) {
    super(store);
    this.#changer = new TaskChanger(store, bus);
    this.#bus = bus;
  }

  /** Takes the next step that can be run. Of any number of processes each gets another one. */
  async claim(taskId: string, expiry: number): Promise<StepLease | undefined> {
    const [lease] = await this.steps.claim({
      where: { taskId, waiting: 0, status: { in: ["created", "running"] } },
      sort: ["index"],
      expiry,
    });
    return lease;
  }

  /** Notes that a step runs. Undefined: its task is gone or canceled, and the lease is given up. */
  async begin(
    lease: StepLease,
    said: StepInput,
  ): Promise<{ readonly task: Stored<TaskRecord>; readonly step: Stored<StepRecord> } | undefined> {
    const { document, token } = lease;
    const begun = await this.#changer.change<Stored<StepRecord> | undefined>(
      document.taskId,
      async (tx, task) => {
        // Another step may have failed a moment ago.
        if (said.automatic === true && !task.automatic) return undefined;
        const lost = (document.lost ?? 0) + (document.status === "running" ? 1 : 0);
        if (said.automatic === true && lost >= mostLosses) return giveUp(tx, lease);
        const attempts = document.attempts + 1;
        const step = await tx.collection(taskCollections.steps).update(
          document.id,
          {
            status: "running",
            lost,
            attempts,
            lease: token,
            input: said.input ?? document.input,
            additionalInput: { ...document.additionalInput, ...said.additionalInput },
          },
          { lease: token },
        );
        if (step === undefined) return undefined;
        const events = [
          { type: "step.started", data: { step_id: step.id, name: step.name, attempt: attempts } },
        ];
        const change = {
          begun: task.begun + (document.attempts === 0 ? 1 : 0),
          // Of a server that ended in this step.
          ...chargeHeld(task, step.id),
          ...workedUntilNow(task, await runsBeside(tx, step)),
        };
        return { events, task: change, value: step };
      },
    );
    if (begun?.value === undefined) {
      await this.steps.release(lease);
      return undefined;
    }
    return { task: begun.task, step: begun.value };
  }

  /**
   * Stores what a step came to. Undefined: its task is gone or canceled, and nothing of it is kept.
   *
   * @throws AgentError `ERR_AGENT_LIMIT`, `ERR_AGENT_UNSAFE_PATH` as a rejection, for files that there is no place for
   */
  async finish(lease: StepLease, result: FinishedStep): Promise<Stored<StepRecord> | undefined> {
    const { document, token } = lease;
    const { taskId } = document;
    const done = await this.#changer.change(taskId, async (tx, task) => {
      const steps = tx.collection(taskCollections.steps);
      const artifacts: string[] = [];
      for (const file of result.files) {
        artifacts.push((await putFile(tx, file, { taskId, agentCreated: true })).id);
      }
      if (result.files.length > 0) await checkTotal(tx, taskId, result.maxTotalBytes);
      const arranged = arrangeSteps(result.next, { taskId, index: task.steps });
      for (const { id, record } of arranged) await steps.insert(record, { id });
      for (const waiter of await steps.getMany(document.unblocks)) {
        if (waiter !== undefined) await steps.update(waiter.id, { waiting: waiter.waiting - 1 });
      }
      const open = task.open - 1 + arranged.length;
      const step = await steps.update(
        document.id,
        {
          status: "completed",
          output: result.output,
          additionalOutput: result.additionalOutput,
          artifacts,
          isLast: open === 0,
          lease: undefined,
        },
        { lease: token },
      );
      if (step === undefined) return undefined;
      const events: NewEvent[] = [
        {
          type: "step.completed",
          data: {
            step_id: step.id,
            name: step.name,
            is_last: step.isLast,
            files: result.files.map(({ path }) => path),
            added: arranged.map(({ id, record }) => ({ step_id: id, name: record.name })),
            usage: result.usage,
          },
        },
      ];
      if (open === 0) events.push({ type: "task.completed", data: {} });
      const change = {
        steps: task.steps + arranged.length,
        open,
        state: open === 0 ? ("completed" as const) : ("open" as const),
        usage: addUsage(task.usage, result.usage),
        ...chargeHeld(task, step.id),
        ...workedUntilNow(task, true),
        failure: undefined,
        automatic: task.automatic && open > 0,
      };
      return { events, task: change, value: step };
    });
    await this.steps.release(lease);
    return done?.value;
  }

  /** Puts a step back, with what went wrong, so that it can be run again. */
  async putBack(
    lease: StepLease,
    {
      failure,
      usage,
      state,
    }: {
      readonly failure: StepFailure;
      readonly usage: Usage;
      readonly state: "canceled" | "failed" | "interrupted";
    },
  ): Promise<void> {
    const { document, token } = lease;
    await this.#changer.change(
      document.taskId,
      async (tx, task) => {
        const attempts = document.attempts + 1;
        const step = await tx.collection(taskCollections.steps).update(
          document.id,
          {
            status: "created",
            lease: undefined,
            additionalOutput: { state, attempts, last_error: { ...failure } },
          },
          { lease: token },
        );
        if (step === undefined) return undefined;
        const data = {
          step_id: step.id,
          name: step.name,
          attempt: attempts,
          error: { ...failure },
        };
        return {
          events: [{ type: `step.${state}`, data }],
          task: {
            usage: addUsage(task.usage, usage),
            ...chargeHeld(task, step.id),
            ...workedUntilNow(task, true),
            ...(state === "failed" && { failure, automatic: false }),
          },
          value: undefined,
        };
      },
      { alsoCanceled: true },
    );
    await this.steps.release(lease);
  }

  /** What a running step spends, kept with its task. */
  spendingOf(lease: StepLease, reportError: (error: unknown) => void): TaskSpending {
    const { id: stepId, taskId } = lease.document;
    return new TaskSpending({
      changer: this.#changer,
      bus: this.#bus,
      taskId,
      stepId,
      reportError,
    });
  }

  /** Counts the time of a step that runs, so that it is not lost with its server. */
  async countTime({ document: { taskId } }: StepLease): Promise<void> {
    await this.#changer.change(taskId, (_tx, task) => ({
      events: [],
      task: workedUntilNow(task, true),
      value: undefined,
    }));
  }

  /** Returns steps whose process is gone to `created`. With `all`, no other process can have any. */
  async recover(which: "all" | "expired"): Promise<number> {
    if (which === "all") {
      for (const document of await this.steps.find({ where: { status: "running" } })) {
        await this.steps.release({ document, token: document.lease ?? "" });
      }
    }
    let recovered = 0;
    for (;;) {
      const leases = await this.steps.claim({ where: { status: "running" }, limit: 100 });
      for (const lease of leases) {
        const { id, taskId, lost = 0 } = lease.document;
        await this.steps.update(
          id,
          { status: "created", lease: undefined, lost: lost + 1 },
          { lease: lease.token },
        );
        await this.steps.release(lease);
        await this.#changer.change(
          taskId,
          (_tx, task) => ({ events: [], task: chargeHeld(task, id), value: undefined }),
          { alsoCanceled: true },
        );
      }
      recovered += leases.length;
      if (leases.length < 100) return recovered;
    }
  }
}

/** Whether another step of the task runs. */
async function runsBeside(tx: Transaction, { id, taskId }: Stored<StepRecord>): Promise<boolean> {
  const where = { taskId, status: "running" } as const;
  const running = await tx.collection(taskCollections.steps).find({ where, limit: 2 });
  return running.some((step) => step.id !== id);
}

/** Fails a step that ended its servers, and the task with it. Who runs it again has it tried as often again. */
async function giveUp(
  tx: Transaction,
  { document, token }: StepLease,
): Promise<TaskChange<undefined>> {
  const { id, name, attempts } = document;
  const failure: StepFailure = {
    message: `the server ended ${mostLosses} times in this step`,
    code: "interrupted",
    retryable: true,
  };
  const additionalOutput = { state: "failed", attempts, last_error: { ...failure } };
  await tx
    .collection(taskCollections.steps)
    .update(
      id,
      { status: "created", lease: undefined, lost: 0, additionalOutput },
      { lease: token },
    );
  const data = { step_id: id, name, attempt: attempts, error: { ...failure } };
  return {
    events: [{ type: "step.failed", data }],
    task: { failure, automatic: false },
    value: undefined,
  };
}
