import type { Collection, Store, Stored } from "@fetchwork/documents";
import type { WantedPage } from "./paging.ts";
import {
  taskCollections,
  type ArtifactRecord,
  type ContentRecord,
  type EventRecord,
  type StepRecord,
  type TaskRecord,
} from "./task-records.ts";

/** A part of a list, and how long the list is. */
export interface Listed<T> {
  readonly items: readonly Stored<T>[];
  readonly total: number;
}

/** Reads tasks and what belongs to them. */
export class TaskReader {
  readonly tasks: Collection<TaskRecord>;
  readonly steps: Collection<StepRecord>;
  readonly artifacts: Collection<ArtifactRecord>;
  readonly contents: Collection<ContentRecord>;
  readonly events: Collection<EventRecord>;

  constructor(store: Store) {
    this.tasks = store.collection(taskCollections.tasks);
    this.steps = store.collection(taskCollections.steps);
    this.artifacts = store.collection(taskCollections.artifacts);
    this.contents = store.collection(taskCollections.contents);
    this.events = store.collection(taskCollections.events);
  }

  async listTasks({ page, size }: WantedPage): Promise<Listed<TaskRecord>> {
    const [items, total] = await Promise.all([
      this.tasks.find({ sort: ["createdAt"], offset: (page - 1) * size, limit: size }),
      this.tasks.count(),
    ]);
    return { items, total };
  }

  async listSteps(taskId: string, { page, size }: WantedPage): Promise<Listed<StepRecord>> {
    const where = { taskId };
    const [items, total] = await Promise.all([
      this.steps.find({ where, sort: ["index"], offset: (page - 1) * size, limit: size }),
      this.steps.count({ where }),
    ]);
    return { items, total };
  }

  async listArtifacts(taskId: string, { page, size }: WantedPage): Promise<Listed<ArtifactRecord>> {
    const where = { taskId };
    const [items, total] = await Promise.all([
      this.artifacts.find({ where, sort: ["createdAt"], offset: (page - 1) * size, limit: size }),
      this.artifacts.count({ where }),
    ]);
    return { items, total };
  }

  /** The files that steps wrote, by id. */
  async artifactsById(
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, Stored<ArtifactRecord>>> {
    const found = ids.length === 0 ? [] : await this.artifacts.getMany(ids);
    return new Map(found.flatMap((artifact) => (artifact ? [[artifact.id, artifact]] : [])));
  }

  /** The files of tasks, by task, in the order in which they came. */
  async artifactsOf(
    taskIds: readonly string[],
  ): Promise<ReadonlyMap<string, readonly Stored<ArtifactRecord>[]>> {
    const found =
      taskIds.length === 0
        ? []
        : await this.artifacts.find({ where: { taskId: { in: taskIds } }, sort: ["createdAt"] });
    return Map.groupBy(found, ({ taskId }) => taskId);
  }
}
