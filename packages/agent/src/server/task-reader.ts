import type { Collection, Store, Stored } from "@fetchwork/documents";
import {
  taskCollections,
  type ArtifactRecord,
  type ContentRecord,
  type EventRecord,
  type StepRecord,
  type TaskRecord,
} from "./task-records.ts";

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
