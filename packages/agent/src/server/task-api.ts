import { json } from "@fetchwork/http";
import type { Stored } from "@fetchwork/documents";
import type { AutomaticTasks } from "./automatic-tasks.ts";
import { AgentError } from "../errors.ts";
import { HttpFailure, invalid, notFound } from "./http-failure.ts";
import { listPage, readPage } from "./paging.ts";
import { readInput, readJson } from "./read-json.ts";
import { readUpload } from "./read-upload.ts";
import { readRequestKey } from "./request-key.ts";
import type { Call, Operation, TaskRoutes } from "./route-requests.ts";
import { Interruption, toHttpFailure } from "./step-failure.ts";
import type { StepRunner } from "./step-runner.ts";
import {
  archiveResponse,
  changesResponse,
  downloadResponse,
  eventsResponse,
} from "./stream-responses.ts";
import type { TaskAgent } from "./task-agent.ts";
import type { TaskBus } from "./task-bus.ts";
import type { StepRecord, TaskRecord } from "./task-records.ts";
import type { TaskStore } from "./task-store.ts";
import { toArtifact, toStep, toTask, type Task } from "./wire.ts";

/** Bytes of a JSON body. */
const largestBody = 1_048_576;

/** Header of a response to a request that was repeated: nothing was done for it. */
const repeated = { headers: { "idempotency-replayed": "true" } };

/** Parts with which the operations work. */
export interface TaskApiParts {
  readonly agent: TaskAgent;
  /** Bytes of an upload, and files of a task. */
  readonly maxUploadBytes: number;
  readonly maxTaskBytes: number;
  readonly maxFiles: number;
  readonly store: TaskStore;
  readonly bus: TaskBus;
  readonly runner: StepRunner;
  readonly automatic: AutomaticTasks;
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal;
}

/** The operations of the task API. */
export class TaskApi {
  readonly #parts: TaskApiParts;

  constructor(parts: TaskApiParts) {
    this.#parts = parts;
  }

  /** Operations by the shape of their path below `/agent/tasks`, and by method. */
  routes(): TaskRoutes {
    return new Map<string, { readonly [method: string]: Operation }>([
      ["", { GET: (call) => this.#listTasks(call), POST: (call) => this.#create(call) }],
      ["task", { GET: (call) => this.#getTask(call), DELETE: (call) => this.#delete(call) }],
      ["task steps", { GET: (call) => this.#listSteps(call), POST: (call) => this.#step(call) }],
      ["task steps one", { GET: (call) => this.#getStep(call) }],
      [
        "task artifacts",
        { GET: (call) => this.#listArtifacts(call), POST: (call) => this.#upload(call) },
      ],
      ["task artifacts one", { GET: (call) => this.#download(call) }],
      ["task events", { GET: (call) => this.#events(call) }],
      ["task run", { POST: (call) => this.#run(call) }],
      ["task cancel", { POST: (call) => this.#cancel(call) }],
      ["task archive", { GET: (call) => this.#archive(call) }],
    ]);
  }

  async #create({ request }: Call): Promise<Response> {
    const sent = readInput(await readJson(request, largestBody));
    const { input, additionalInput } = sent;
    if (input === null || input.trim() === "") throw invalid("input must say what to program");
    const automatic = additionalInput["run"] === true;
    const { agent, store } = this.#parts;
    const once = readRequestKey(request, sent);
    const known = once && (await store.createdBy(once));
    if (known !== undefined) return json(await this.#task(known.id), repeated);
    const steps = agent.onTask({ input, additionalInput });
    const task = await store.create({ input, additionalInput, automatic, steps, request: once });
    if (automatic) this.#parts.automatic.look();
    return json(toTask(task, []));
  }

  async #listTasks({ request }: Call): Promise<Response> {
    const { store } = this.#parts;
    const wanted = readPage(request);
    const { items, pagination } = await listPage(store.tasks, { sort: ["createdAt"] }, wanted);
    const artifacts = await store.artifactsOf(items.map(({ id }) => id));
    const tasks = items.map((task) => toTask(task, artifacts.get(task.id) ?? []));
    return json({ tasks, pagination });
  }

  async #found(taskId: string): Promise<Stored<TaskRecord>> {
    const task = await this.#parts.store.tasks.get(taskId);
    if (task === undefined) throw notFound("task");
    return task;
  }

  async #task(taskId: string): Promise<Task> {
    const task = await this.#found(taskId);
    const artifacts = await this.#parts.store.artifactsOf([taskId]);
    return toTask(task, artifacts.get(taskId) ?? []);
  }

  async #getTask({ taskId }: Call): Promise<Response> {
    return json(await this.#task(taskId));
  }

  async #listSteps({ request, taskId }: Call): Promise<Response> {
    const wanted = readPage(request);
    await this.#found(taskId);
    const query = { where: { taskId }, sort: ["index"] as const };
    const { items, pagination } = await listPage(this.#parts.store.steps, query, wanted);
    const steps = await this.#withArtifacts(items);
    return json({ steps, pagination });
  }

  async #withArtifacts(
    steps: readonly Stored<StepRecord>[],
  ): Promise<readonly ReturnType<typeof toStep>[]> {
    const { store } = this.#parts;
    const known = await store.artifactsById(steps.flatMap(({ artifacts }) => artifacts));
    return steps.map((step) =>
      toStep(
        step,
        step.artifacts.flatMap((id) => known.get(id) ?? []),
      ),
    );
  }

  async #getStep({ taskId, id }: Call): Promise<Response> {
    await this.#found(taskId);
    const step = await this.#parts.store.steps.get(id);
    if (step?.taskId !== taskId) throw notFound("step");
    const [shown] = await this.#withArtifacts([step]);
    return json(shown);
  }

  async #step({ request, context, taskId }: Call): Promise<Response> {
    const sent = readInput(await readJson(request, largestBody));
    await this.#found(taskId);
    const { store, runner, stopping } = this.#parts;
    const once = readRequestKey(request, sent);
    const known = once && (await store.ranBy(taskId, once));
    if (known !== undefined) {
      const [again] = await this.#withArtifacts([known]);
      return json(again, repeated);
    }
    // Waiting ends with the client; a step that runs does not, for it is paid already.
    const waiting = AbortSignal.any([context.signal, stopping]);
    const running = runner
      .runNext(taskId, { ...sent, request: once }, waiting)
      .catch((error: unknown) => {
        if (error instanceof HttpFailure || !waiting.aborted) throw error;
        throw toHttpFailure(new Interruption("the server stops"));
      });
    context.waitUntil(running.catch(() => undefined));
    const [shown] = await this.#withArtifacts([await running]);
    return json(shown);
  }

  async #listArtifacts({ request, taskId }: Call): Promise<Response> {
    const wanted = readPage(request);
    await this.#found(taskId);
    const query = { where: { taskId }, sort: ["createdAt"] as const };
    const { items, pagination } = await listPage(this.#parts.store.artifacts, query, wanted);
    return json({ artifacts: items.map(toArtifact), pagination });
  }

  async #upload({ request, taskId }: Call): Promise<Response> {
    await this.#found(taskId);
    const { store, maxFiles, maxUploadBytes, maxTaskBytes } = this.#parts;
    const count = await store.artifacts.count({ where: { taskId }, max: maxFiles });
    if (count >= maxFiles) throw invalid(`a task has at most ${maxFiles} files`);
    await using upload = await readUpload(request, maxUploadBytes);
    const artifact = await store
      .upload(taskId, upload.file, { maxBytes: maxTaskBytes })
      .catch((error: unknown) => {
        throw error instanceof AgentError ? invalid(error.message) : error;
      });
    if (artifact === undefined) throw notFound("task");
    return json(toArtifact(artifact));
  }

  async #download({ request, taskId, id }: Call): Promise<Response> {
    await this.#found(taskId);
    const { store } = this.#parts;
    const artifact = await store.artifacts.get(id);
    if (artifact?.taskId !== taskId) throw notFound("artifact");
    return (
      (await changesResponse(request, artifact, store)) ??
      downloadResponse(request, artifact, store)
    );
  }

  async #events({ request, context, taskId }: Call): Promise<Response> {
    const { state, events } = await this.#found(taskId);
    const { store, bus, stopping } = this.#parts;
    const last = request.headers.get("last-event-id") ?? "0";
    if (!/^\d{1,15}$/.test(last)) throw invalid("Last-Event-ID must be a number");
    // An EventSource asks again and again until it gets this response (HTML, section 9.2.3).
    if (state !== "open" && events > 0 && Number(last) >= events) {
      return new Response(null, { status: 204 });
    }
    const signal = AbortSignal.any([context.signal, stopping]);
    return eventsResponse({ store, bus }, { taskId, after: Number(last), signal });
  }

  async #run({ taskId }: Call): Promise<Response> {
    const { state } = await this.#found(taskId);
    if (state === "canceled") throw new HttpFailure(409, "canceled", "the task was canceled");
    const { store, automatic } = this.#parts;
    await store.setAutomatic(taskId);
    automatic.look();
    return json(await this.#task(taskId));
  }

  async #cancel({ taskId }: Call): Promise<Response> {
    await this.#found(taskId);
    const { store, runner } = this.#parts;
    await store.cancel(taskId);
    runner.cancel(taskId);
    return json(await this.#task(taskId));
  }

  async #delete({ taskId }: Call): Promise<Response> {
    await this.#found(taskId);
    const { store, runner } = this.#parts;
    if (!(await store.remove(taskId))) throw notFound("task");
    runner.cancel(taskId);
    return new Response(null, { status: 204 });
  }

  async #archive({ taskId }: Call): Promise<Response> {
    await this.#found(taskId);
    return archiveResponse(taskId, this.#parts.store);
  }
}
