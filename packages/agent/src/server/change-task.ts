import type { Change, Collection, Store, Stored, Transaction } from "@fetchwork/documents";
import type { JsonObject } from "./task-agent.ts";
import type { TaskBus } from "./task-bus.ts";
import {
  taskCollections,
  type ArtifactRecord,
  type ContentRecord,
  type EventRecord,
  type StepRecord,
  type TaskRecord,
} from "./task-records.ts";

/** A project may have 10,000 files; each is stored with its bookkeeping. */
export const longTransaction = { timeout: 120_000 };

/** Something to tell of. */
export interface NewEvent {
  readonly type: string;
  readonly data: JsonObject;
}

/** Change of a task, with its events and a value for the caller. */
export interface TaskChange<T> {
  readonly events: readonly NewEvent[];
  readonly task: Change<TaskRecord>;
  /** Value for the caller. */
  readonly value: T;
}

/** Tasks and what belongs to them. Each change is one transaction, and is told of. */
export class TaskChanger {
  readonly tasks: Collection<TaskRecord>;
  readonly steps: Collection<StepRecord>;
  readonly artifacts: Collection<ArtifactRecord>;
  readonly contents: Collection<ContentRecord>;
  readonly events: Collection<EventRecord>;
  readonly #store: Store;
  readonly #bus: TaskBus;

  constructor(store: Store, bus: TaskBus) {
    this.#store = store;
    this.#bus = bus;
    this.tasks = store.collection(taskCollections.tasks);
    this.steps = store.collection(taskCollections.steps);
    this.artifacts = store.collection(taskCollections.artifacts);
    this.contents = store.collection(taskCollections.contents);
    this.events = store.collection(taskCollections.events);
  }

  /** The files that steps wrote, by id. */
  async artifactsById(
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, Stored<ArtifactRecord>>> {
    const found = await this.artifacts.getMany(ids);
    return new Map(found.flatMap((artifact) => (artifact ? [[artifact.id, artifact]] : [])));
  }

  /** The files of tasks, by task, in the order in which they came. */
  async artifactsOf(
    taskIds: readonly string[],
  ): Promise<ReadonlyMap<string, readonly Stored<ArtifactRecord>[]>> {
    const where = { taskId: { in: taskIds } };
    const found = await this.artifacts.find({ where, sort: ["createdAt"] });
    return Map.groupBy(found, ({ taskId }) => taskId);
  }

  /** Undefined: there is no such task, it was canceled, or `work` changed nothing. */
  async change<T>(
    taskId: string,
    work: (
      tx: Transaction,
      task: Stored<TaskRecord>,
    ) => Promise<TaskChange<T> | undefined> | TaskChange<T> | undefined,
    { alsoCanceled = false }: { readonly alsoCanceled?: boolean } = {},
  ): Promise<{ readonly task: Stored<TaskRecord>; readonly value: T } | undefined> {
    const changed = await this.#store.transaction(async (tx) => {
      const tasks = tx.collection(taskCollections.tasks);
      // A write, though of nothing new. On PostgreSQL it tells the second caller to begin again.
      // Else a unique index would say that its own rows are there already.
      const task = await tasks.update(taskId, {});
      if (task === undefined || (task.state === "canceled" && !alsoCanceled)) return undefined;
      const change = await work(tx, task);
      if (change === undefined) return undefined;
      let number = task.events;
      for (const { type, data } of change.events) {
        number += 1;
        await tx
          .collection(taskCollections.events)
          .insert({ taskId, number, type, data }, { id: `${taskId}:${number}` });
      }
      const updated = await tasks.update(taskId, { ...change.task, events: number });
      return updated === undefined ? undefined : { task: updated, value: change.value };
    }, longTransaction);
    if (changed !== undefined) this.#bus.publish(taskId);
    return changed;
  }

  /** Removes a task and everything of it. */
  async remove(taskId: string): Promise<boolean> {
    const removed = await this.#store.transaction(async (tx) => {
      if (!(await tx.collection(taskCollections.tasks).remove(taskId))) return false;
      const where = { taskId };
      await tx.collection(taskCollections.steps).removeMany({ where });
      await tx.collection(taskCollections.artifacts).removeMany({ where });
      await tx.collection(taskCollections.contents).removeMany({ where });
      await tx.collection(taskCollections.events).removeMany({ where });
      return true;
    }, longTransaction);
    if (removed) this.#bus.publish(taskId);
    return removed;
  }
}
