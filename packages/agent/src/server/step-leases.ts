import type { Collection, Lease, Stored, Transaction } from "@fetchwork/documents";
import { arrangeSteps } from "./arrange-steps.ts";
import { TaskChanger, type NewEvent, type TaskChange } from "./change-task.ts";
import { checkTotal, putFile, type NewFile } from "./put-file.ts";
import { checkSameRequest, keyInUse, type RequestKey } from "./request-key.ts";
import { withUse, type StepUse } from "./running-task.ts";
import type { JsonObject, NewStep } from "./task-agent.ts";
import {
  taskCollections,
  type StepFailure,
  type StepRecord,
  type TaskRecord,
} from "./task-records.ts";

/** Input of a client for a step. */
export interface StepInput {
  readonly input: string | null;
  readonly additionalInput: JsonObject;
  /** The request, if it has an `Idempotency-Key`. */
  readonly request?: RequestKey | undefined;
  /** Whether a server runs the step while the task is automatic. Default: on request only. */
  readonly automatic?: boolean | undefined;
}

/** Result of a finished step. */
export interface FinishedStep {
  readonly output: string | null;
  readonly additionalOutput: JsonObject;
  readonly files: readonly NewFile[];
  /** Maximum bytes of all files of the task. */
  readonly maxTotalBytes?: number | undefined;
  readonly next: readonly NewStep[];
  readonly use: StepUse;
}

/** How often a server may end in a step until it is not retried: it may be the cause. */
const maxLosses = 5;

/** The right to run a step. */
export type StepLease = Lease<StepRecord>;

/** Steps of tasks, each of which runs under a lease. */
export class StepLeases extends TaskChanger {
  /** Takes the next step that can be run. Each of any number of processes gets another one. */
  async claim(taskId: string, expiry: number): Promise<StepLease | undefined> {
    const [lease] = await this.steps.claim({
      where: { taskId, waiting: 0, status: { in: ["created", "running"] } },
      sort: ["index"],
      expiry,
    });
    return lease;
  }

  /**
   * The step that an earlier request with this key ran.
   *
   * @throws HttpFailure 409 while it runs, 422 where that request asked for something else
   */
  async ranBy(taskId: string, request: RequestKey): Promise<Stored<StepRecord> | undefined> {
    const step = await begunBy(this.steps, taskId, request);
    if (step === undefined) return undefined;
    checkSameRequest(step.request, request);
    if (step.status === "running") throw keyInUse();
    return step;
  }

  /**
   * Notes that a step runs. Undefined: its task is gone or canceled, and the lease is given up.
   *
   * @throws HttpFailure 409 when another request with its key has begun a step
   */
  async begin(
    lease: StepLease,
    sent: StepInput,
  ): Promise<{ readonly task: Stored<TaskRecord>; readonly step: Stored<StepRecord> } | undefined> {
    const { document, token } = lease;
    const begun = await this.change<Stored<StepRecord> | undefined>(
      document.taskId,
      async (tx, task) => {
        // Another step may have failed a moment ago.
        if (sent.automatic === true && !task.automatic) return undefined;
        const lost = (document.lost ?? 0) + (document.status === "running" ? 1 : 0);
        if (sent.automatic === true && lost >= maxLosses) return giveUp(tx, lease);
        const steps = tx.collection(taskCollections.steps);
        const { request } = sent;
        const other = request && (await begunBy(steps, document.taskId, request));
        if (other !== undefined) throw keyInUse();
        const attempts = document.attempts + 1;
        const step = await steps.update(
          document.id,
          {
            status: "running",
            request,
            lost,
            attempts,
            lease: token,
            input: sent.input ?? document.input,
            additionalInput: { ...document.additionalInput, ...sent.additionalInput },
          },
          { lease: token },
        );
        if (step === undefined) return undefined;
        const events = [
          { type: "step.started", data: { step_id: step.id, name: step.name, attempt: attempts } },
        ];
        const begun = task.begun + (document.attempts === 0 ? 1 : 0);
        return { events, task: { begun }, value: step };
      },
    ).catch(async (error: unknown) => {
      await this.steps.release(lease).catch(() => undefined);
      throw error;
    });
    if (begun?.value === undefined) {
      await this.steps.release(lease);
      return undefined;
    }
    return { task: begun.task, step: begun.value };
  }

  /**
   * Stores what a step came to. Undefined: its task is gone or canceled, and nothing of it is kept.
   *
   * @throws AgentError `ERR_AGENT_LIMIT`, `ERR_AGENT_UNSAFE_PATH` as a rejection, for files that
   * there is no place for
   */
  async finish(lease: StepLease, result: FinishedStep): Promise<Stored<StepRecord> | undefined> {
    const { document, token } = lease;
    const { taskId } = document;
    const done = await this.change(taskId, async (tx, task) => {
      const steps = tx.collection(taskCollections.steps);
      const artifacts: string[] = [];
      for (const file of result.files) {
        artifacts.push((await putFile(tx, file, { taskId, agentCreated: true })).id);
      }
      if (result.files.length > 0) await checkTotal(tx, taskId, result.maxTotalBytes);
      const arranged = arrangeSteps(result.next, taskId, task.steps);
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
            usage: result.use.usage,
          },
        },
      ];
      if (open === 0) events.push({ type: "task.completed", data: {} });
      const change = {
        steps: task.steps + arranged.length,
        open,
        state: open === 0 ? ("completed" as const) : ("open" as const),
        ...withUse(task, result.use),
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
      use,
      state,
    }: {
      readonly failure: StepFailure;
      readonly use: StepUse;
      readonly state: "canceled" | "failed" | "interrupted";
    },
  ): Promise<void> {
    const { document, token } = lease;
    await this.change(
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
          task: { ...withUse(task, use), ...(state === "failed" && { failure, automatic: false }) },
          value: undefined,
        };
      },
      { alsoCanceled: true },
    );
    await this.steps.release(lease);
  }

  /** Returns steps of ended processes to `created`. With `all`, no other process has any. */
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
        const { id, lost = 0 } = lease.document;
        await this.steps.update(
          id,
          { status: "created", lease: undefined, lost: lost + 1 },
          { lease: lease.token },
        );
        await this.steps.release(lease);
      }
      recovered += leases.length;
      if (leases.length < 100) return recovered;
    }
  }
}

/** The step that runs, or ran to its end, for a request with this key. */
async function begunBy(
  steps: Pick<Collection<StepRecord>, "find">,
  taskId: string,
  { key }: RequestKey,
): Promise<Stored<StepRecord> | undefined> {
  const where = { taskId, "request.key": key, status: { in: ["running", "completed"] as const } };
  const [step] = await steps.find({ where, limit: 1 });
  return step;
}

/** Fails a step that ended its servers, and its task. A later request tries it as often again. */
async function giveUp(
  tx: Transaction,
  { document, token }: StepLease,
): Promise<TaskChange<undefined>> {
  const { id, name, attempts } = document;
  const failure: StepFailure = {
    message: `the server ended ${maxLosses} times in this step`,
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
