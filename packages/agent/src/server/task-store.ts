import { UniqueError, type Stored } from "@fetchwork/documents";
import type { Usage } from "../calls/budget.ts";
import { arrangeSteps } from "./arrange-steps.ts";
import { HttpFailure } from "./http-failure.ts";
import { StepLeases } from "./step-leases.ts";
import { putFile, type NewFile } from "./put-file.ts";
import { checkSameRequest, keyInUse, type RequestKey } from "./request-key.ts";
import type { NewStep } from "./task-agent.ts";
import { taskId as makeId } from "./task-id.ts";
import { taskCollections, type ArtifactRecord, type TaskRecord } from "./task-records.ts";

const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cost: 0, calls: 0 };

/** Tasks in a document store. Each change is one transaction, together with its events. */
export class TaskStore extends StepLeases {
  /**
   * Creates a task and its first steps.
   *
   * @throws HttpFailure 409 when another request with its key creates one at the same time
   */
  async create({
    steps,
    ...given
  }: Pick<TaskRecord, "additionalInput" | "automatic" | "input" | "request"> & {
    readonly steps: readonly NewStep[];
  }): Promise<Stored<TaskRecord>> {
    const id = makeId();
    const arranged = arrangeSteps(steps, id, 0);
    const record: TaskRecord = {
      ...given,
      state: arranged.length === 0 ? "completed" : "open",
      steps: arranged.length,
      open: arranged.length,
      begun: 0,
      events: 0,
      usage: noUsage,
    };
    // No transaction, so that tasks that come together share one wait for the disk. Steps come
    // first: without their task nobody sees them.
    await Promise.all(arranged.map((step) => this.steps.insert(step.record, { id: step.id })));
    try {
      return await this.tasks.insert(record, { id });
    } catch (error) {
      await this.steps.removeMany({ where: { taskId: id } });
      throw error instanceof UniqueError ? keyInUse() : error;
    }
  }

  /** The task that an earlier request with this key created. */
  async createdBy(request: RequestKey): Promise<Stored<TaskRecord> | undefined> {
    const [task] = await this.tasks.find({ where: { "request.key": request.key }, limit: 1 });
    if (task !== undefined) checkSameRequest(task.request, request);
    return task;
  }

  /** Adds steps to a task that has none left, and makes them its last. */
  async addSteps(taskId: string, steps: readonly NewStep[]): Promise<boolean> {
    const added = await this.change(taskId, async (tx, task) => {
      // Another request was faster.
      if (task.open > 0) return undefined;
      const collection = tx.collection(taskCollections.steps);
      const arranged = arrangeSteps(steps, taskId, task.steps);
      for (const { isLast, id } of await collection.find({ where: { taskId, isLast: true } })) {
        if (isLast) await collection.update(id, { isLast: false });
      }
      for (const { id, record } of arranged) await collection.insert(record, { id });
      const names = arranged.map(({ id, record }) => ({ step_id: id, name: record.name }));
      return {
        events: [{ type: "steps.added", data: { added: names } }],
        task: {
          steps: task.steps + arranged.length,
          open: arranged.length,
          state: "open" as const,
        },
        value: true,
      };
    });
    return added?.value ?? false;
  }

  /**
   * Stores a file that somebody uploaded. Undefined: there is no such task.
   *
   * @throws HttpFailure 413 when all uploads of the task have more than `maxBytes`
   */
  async upload(
    taskId: string,
    file: NewFile,
    { maxBytes }: { readonly maxBytes: number },
  ): Promise<Stored<ArtifactRecord> | undefined> {
    const stored = await this.change(
      taskId,
      async (tx, { uploaded: before = 0 }) => {
        const uploaded = before + file.content.size;
        if (uploaded > maxBytes) {
          const message = `the files uploaded to a task have at most ${maxBytes} bytes`;
          throw new HttpFailure(413, "too_large", message);
        }
        const artifact = await putFile(tx, file, { taskId, agentCreated: false });
        const data = { artifact_id: artifact.id, path: artifact.path };
        return { events: [{ type: "artifact.added", data }], task: { uploaded }, value: artifact };
      },
      { alsoCanceled: true },
    );
    return stored?.value;
  }

  /** Lets the servers run the steps of a task by themselves. */
  async setAutomatic(taskId: string): Promise<void> {
    await this.change(taskId, (_tx, { open }) => ({
      events: [],
      task: { automatic: open > 0 },
      value: true,
    }));
  }

  /** Ends a task that is not completed. */
  async cancel(taskId: string): Promise<void> {
    await this.change(taskId, (_tx, { state }) => {
      if (state !== "open") return undefined;
      return {
        events: [{ type: "task.canceled", data: {} }],
        task: { state: "canceled" as const, automatic: false },
        value: true,
      };
    });
  }
}
