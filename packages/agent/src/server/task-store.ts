import type { Collection, Lease, Store, Stored, Transaction } from "@fetchwork/documents";
import type { Usage } from "../calls/budget.ts";
import { addUsage } from "../calls/ask-model.ts";
import { arrangeSteps } from "./arrange-steps.ts";
import { storeContent, type Content } from "./content-parts.ts";
import type { WantedPage } from "./paging.ts";
import type { JsonObject, NewStep } from "./task-agent.ts";
import type { TaskBus } from "./task-bus.ts";
import { taskId as makeId } from "./task-id.ts";
import {
  taskCollections,
  type ArtifactRecord,
  type ContentRecord,
  type EventRecord,
  type StepFailure,
  type StepRecord,
  type TaskRecord,
} from "./task-records.ts";

/** What a task is made of. */
export interface TaskInput {
  readonly input: string;
  readonly additionalInput: JsonObject;
  readonly automatic: boolean;
  readonly steps: readonly NewStep[];
}

/** A file that is put into a task. */
export interface NewFile {
  /** Checked path. */
  readonly path: string;
  /** As in `ArtifactRecord`. */
  readonly folder: string | null;
  readonly content: Content;
}

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
  readonly next: readonly NewStep[];
  readonly usage: Usage;
}

/** The right to run a step. */
export type StepLease = Lease<StepRecord>;

/** A part of a list, and how long the list is. */
export interface Listed<T> {
  readonly items: readonly Stored<T>[];
  readonly total: number;
}

const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cost: 0, calls: 0 };
/** Older versions of a file are forgotten. */
const mostVersions = 100;
/** A project may have 10,000 files; each is stored with its bookkeeping. */
const longTransaction = { timeout: 120_000 };

/** Tasks in a document store. Every change of a task is one transaction, with the events that tell of it. */
export class TaskStore {
  readonly #store: Store;
  readonly #bus: TaskBus;
  readonly tasks: Collection<TaskRecord>;
  readonly steps: Collection<StepRecord>;
  readonly artifacts: Collection<ArtifactRecord>;
  readonly contents: Collection<ContentRecord>;
  readonly events: Collection<EventRecord>;

  constructor(store: Store, bus: TaskBus) {
    this.#store = store;
    this.#bus = bus;
    this.tasks = store.collection(taskCollections.tasks);
    this.steps = store.collection(taskCollections.steps);
    this.artifacts = store.collection(taskCollections.artifacts);
    this.contents = store.collection(taskCollections.contents);
    this.events = store.collection(taskCollections.events);
  }

  /** Creates a task and its first steps. */
  async create({
    input,
    additionalInput,
    automatic,
    steps,
  }: TaskInput): Promise<Stored<TaskRecord>> {
    const id = makeId();
    const arranged = arrangeSteps(steps, { taskId: id, index: 0 });
    const record: TaskRecord = {
      input,
      additionalInput,
      state: arranged.length === 0 ? "completed" : "open",
      automatic,
      steps: arranged.length,
      open: arranged.length,
      begun: 0,
      events: 0,
      usage: noUsage,
    };
    return await this.#store.transaction(async (tx) => {
      const [task] = await Promise.all([
        tx.collection(taskCollections.tasks).insert(record, { id }),
        ...arranged.map((step) =>
          tx.collection(taskCollections.steps).insert(step.record, { id: step.id }),
        ),
      ]);
      return task;
    });
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
      this.artifacts.find({
        where,
        sort: ["createdAt"],
        offset: (page - 1) * size,
        limit: size,
      }),
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
    const begun = await this.#change(document.taskId, async (tx, task) => {
      // Another step may have failed a moment ago.
      if (said.automatic === true && !task.automatic) return undefined;
      const attempts = document.attempts + 1;
      const step = await tx.collection(taskCollections.steps).update(
        document.id,
        {
          status: "running",
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
      const begunCount = task.begun + (document.attempts === 0 ? 1 : 0);
      return { events, task: { begun: begunCount }, value: step };
    });
    if (begun === undefined) {
      await this.steps.release(lease);
      return undefined;
    }
    return { task: begun.task, step: begun.value };
  }

  /** Stores what a step came to. Undefined: its task is gone or canceled, and nothing of it is kept. */
  async finish(lease: StepLease, result: FinishedStep): Promise<Stored<StepRecord> | undefined> {
    const { document, token } = lease;
    const { taskId } = document;
    const done = await this.#change(taskId, async (tx, task) => {
      const steps = tx.collection(taskCollections.steps);
      const artifacts: string[] = [];
      for (const file of result.files) {
        artifacts.push((await putFile(tx, file, { taskId, agentCreated: true })).id);
      }
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
    await this.#change(
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
            ...(state === "failed" && { failure, automatic: false }),
          },
          value: undefined,
        };
      },
      { alsoCanceled: true },
    );
    await this.steps.release(lease);
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
        const { id, taskId } = lease.document;
        await this.steps.update(
          id,
          { status: "created", lease: undefined },
          { lease: lease.token },
        );
        await this.steps.release(lease);
        this.#bus.tell(taskId);
      }
      recovered += leases.length;
      if (leases.length < 100) return recovered;
    }
  }

  /** Adds steps to a task that has none left, and makes them its last. */
  async addSteps(taskId: string, steps: readonly NewStep[]): Promise<boolean> {
    const added = await this.#change(taskId, async (tx, task) => {
      // Another request was faster.
      if (task.open > 0) return undefined;
      const collection = tx.collection(taskCollections.steps);
      const arranged = arrangeSteps(steps, { taskId, index: task.steps });
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

  /** Stores a file that somebody uploaded. Undefined: there is no such task. */
  async upload(taskId: string, file: NewFile): Promise<Stored<ArtifactRecord> | undefined> {
    const stored = await this.#change(
      taskId,
      async (tx) => {
        const artifact = await putFile(tx, file, { taskId, agentCreated: false });
        const data = { artifact_id: artifact.id, path: artifact.path };
        return { events: [{ type: "artifact.added", data }], task: {}, value: artifact };
      },
      { alsoCanceled: true },
    );
    return stored?.value;
  }

  /** Lets the servers run the steps of a task by themselves, or stops that. */
  async setAutomatic(
    taskId: string,
    automatic: "off" | "on",
  ): Promise<Stored<TaskRecord> | undefined> {
    const wanted = automatic === "on";
    const changed = await this.#change(taskId, (_tx, task) => ({
      events: [],
      task: { automatic: wanted && task.open > 0 },
      value: true,
    }));
    return changed?.task;
  }

  /** Ends a task that is not completed. */
  async cancel(taskId: string): Promise<Stored<TaskRecord> | undefined> {
    const changed = await this.#change(taskId, (_tx, { state }) => {
      if (state !== "open") return undefined;
      return {
        events: [{ type: "task.canceled", data: {} }],
        task: { state: "canceled" as const, automatic: false },
        value: true,
      };
    });
    return changed?.task;
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
    if (removed) this.#bus.tell(taskId);
    return removed;
  }

  /** Changes a task and what belongs to it, and tells of it, in one transaction. */
  async #change<T>(
    taskId: string,
    work: (
      tx: Transaction,
      task: Stored<TaskRecord>,
    ) => Promise<TaskChange<T> | undefined> | TaskChange<T> | undefined,
    { alsoCanceled = false }: { readonly alsoCanceled?: boolean } = {},
  ): Promise<{ readonly task: Stored<TaskRecord>; readonly value: T } | undefined> {
    const changed = await this.#store.transaction(async (tx) => {
      const tasks = tx.collection(taskCollections.tasks);
      // A write, though of nothing new: on PostgreSQL, who comes second is told here that it has to begin anew, and not
      // by a unique index that its own rows are there already.
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
    if (changed !== undefined) this.#bus.tell(taskId);
    return changed;
  }
}

interface NewEvent {
  readonly type: string;
  readonly data: JsonObject;
}

interface TaskChange<T> {
  readonly events: readonly NewEvent[];
  readonly task: { readonly [K in keyof TaskRecord]?: TaskRecord[K] | undefined };
  readonly value: T;
}

interface FileOwner {
  readonly taskId: string;
  readonly agentCreated: boolean;
}

/** Stores a file, as a new version where there is one of that path. */
async function putFile(
  tx: Transaction,
  { path, folder, content }: NewFile,
  owner: FileOwner,
): Promise<Stored<ArtifactRecord>> {
  const artifacts = tx.collection(taskCollections.artifacts);
  const { taskId } = owner;
  await storeContent(tx, taskId, content);
  const version = { hash: content.hash, size: content.size };
  const [known] = await artifacts.find({ where: { taskId, path }, limit: 1 });
  if (known === undefined) return artifacts.insert({ ...owner, path, folder, versions: [version] });
  const same = known.versions.at(-1)?.hash === version.hash;
  const versions = same ? known.versions : [...known.versions, version].slice(-mostVersions);
  const updated = await artifacts.update(known.id, { ...owner, folder, versions });
  return updated ?? known;
}
