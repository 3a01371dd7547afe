import { json, type Context } from "@fetchwork/http";
import type { IdempotencyStore } from "@fetchwork/middleware";
import type { Stored } from "@fetchwork/documents";
import type { AutomaticTasks } from "./automatic-tasks.ts";
import { AgentError } from "../errors.ts";
import { HttpFailure, invalid, notFound } from "./http-failure.ts";
import { once } from "./once.ts";
import { pagination, readPage } from "./paging.ts";
import { readInput, readJson } from "./read-json.ts";
import { readUpload } from "./read-upload.ts";
import type { Operation, TaskRoutes } from "./route-requests.ts";
import { Interruption, toHttpFailure } from "./step-failure.ts";
import type { StepRunner } from "./step-runner.ts";
import { archiveAnswer, changesAnswer, downloadAnswer, eventsAnswer } from "./stream-answers.ts";
import type { TaskAgent } from "./task-agent.ts";
import type { TaskBus } from "./task-bus.ts";
import type { StepRecord, TaskRecord } from "./task-records.ts";
import type { TaskStore } from "./task-store.ts";
import { toArtifact, toStep, toTask, type Task } from "./wire.ts";

/** Bytes of a JSON body. */
const largestBody = 1_048_576;

/** What the operations work with. */
export interface TaskApiParts {
  readonly agent: TaskAgent;
  /** Bytes of an upload, and files of a task. */
  readonly maxUploadBytes: number;
  readonly maxTaskBytes: number;
  readonly maxFiles: number;
  /** Keeps the answers for `Idempotency-Key`. */
  readonly idempotency: IdempotencyStore;
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
    const onceOnly = once(this.#parts.idempotency);
    return new Map<string, { readonly [method: string]: Operation }>([
      ["", { GET: (request) => this.#listTasks(request), POST: onceOnly((r) => this.#create(r)) }],
      [
        "task",
        {
          GET: async (_request, _context, [taskId = ""]) => json(await this.#task(taskId)),
          DELETE: (_request, _context, [taskId = ""]) => this.#delete(taskId),
        },
      ],
      [
        "task steps",
        {
          GET: (request, _context, [taskId = ""]) => this.#listSteps(request, taskId),
          POST: onceOnly((request, context, [taskId = ""]) => this.#step(request, context, taskId)),
        },
      ],
      [
        "task steps one",
        { GET: (_request, _context, [taskId = "", id = ""]) => this.#getStep(taskId, id) },
      ],
      [
        "task artifacts",
        {
          GET: (request, _context, [taskId = ""]) => this.#listArtifacts(request, taskId),
          POST: (request, _context, [taskId = ""]) => this.#upload(request, taskId),
        },
      ],
      [
        "task artifacts one",
        {
          GET: (request, _context, [taskId = "", id = ""]) => this.#download(request, taskId, id),
        },
      ],
      [
        "task events",
        { GET: (request, context, [taskId = ""]) => this.#events(request, context, taskId) },
      ],
      ["task run", { POST: (_request, _context, [taskId = ""]) => this.#run(taskId) }],
      ["task cancel", { POST: (_request, _context, [taskId = ""]) => this.#cancel(taskId) }],
      ["task archive", { GET: (_request, _context, [taskId = ""]) => this.#archive(taskId) }],
    ]);
  }

  async #create(request: Request): Promise<Response> {
    const { input, additionalInput } = readInput(await readJson(request, largestBody));
    if (input === null || input.trim() === "") throw invalid("input is to say what to program");
    const automatic = additionalInput["run"] === true;
    const { agent, store } = this.#parts;
    const steps = agent.onTask({ input, additionalInput });
    const task = await store.create({ input, additionalInput, automatic, steps });
    if (automatic) this.#parts.automatic.look();
    return json(toTask(task, []));
  }

  async #listTasks(request: Request): Promise<Response> {
    const { store } = this.#parts;
    const wanted = readPage(new URL(request.url).searchParams);
    const { items, total } = await store.listTasks(wanted);
    const artifacts = await store.artifactsOf(items.map(({ id }) => id));
    const tasks = items.map((task) => toTask(task, artifacts.get(task.id) ?? []));
    return json({ tasks, pagination: pagination(wanted, total) });
  }

  async #found(taskId: string): Promise<Stored<TaskRecord>> {
    // Ids are written in lower case; nothing else can be one.
    const task = isId(taskId) ? await this.#parts.store.tasks.get(taskId) : undefined;
    if (task === undefined) throw notFound("task");
    return task;
  }

  async #task(taskId: string): Promise<Task> {
    const task = await this.#found(taskId);
    const artifacts = await this.#parts.store.artifactsOf([taskId]);
    return toTask(task, artifacts.get(taskId) ?? []);
  }

  async #listSteps(request: Request, taskId: string): Promise<Response> {
    const wanted = readPage(new URL(request.url).searchParams);
    await this.#found(taskId);
    const { items, total } = await this.#parts.store.listSteps(taskId, wanted);
    const steps = await this.#withArtifacts(items);
    return json({ steps, pagination: pagination(wanted, total) });
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

  async #getStep(taskId: string, stepId: string): Promise<Response> {
    await this.#found(taskId);
    const step = isId(stepId) ? await this.#parts.store.steps.get(stepId) : undefined;
    if (step === undefined || step.taskId !== taskId) throw notFound("step");
    const [shown] = await this.#withArtifacts([step]);
    return json(shown);
  }

  async #step(request: Request, context: Context, taskId: string): Promise<Response> {
    const said = readInput(await readJson(request, largestBody));
    await this.#found(taskId);
    const { runner, stopping } = this.#parts;
    // Waiting ends with the client; a step that runs does not, for it is paid already.
    const waiting = AbortSignal.any([context.signal, stopping]);
    const running = runner.runNext(taskId, said, waiting).catch((error: unknown) => {
      if (error instanceof HttpFailure || !waiting.aborted) throw error;
      throw toHttpFailure(new Interruption("the server stops"));
    });
    context.waitUntil(running.catch(() => undefined));
    const [shown] = await this.#withArtifacts([await running]);
    return json(shown);
  }

  async #listArtifacts(request: Request, taskId: string): Promise<Response> {
    const wanted = readPage(new URL(request.url).searchParams);
    await this.#found(taskId);
    const { items, total } = await this.#parts.store.listArtifacts(taskId, wanted);
    return json({ artifacts: items.map(toArtifact), pagination: pagination(wanted, total) });
  }

  async #upload(request: Request, taskId: string): Promise<Response> {
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

  async #download(request: Request, taskId: string, id: string): Promise<Response> {
    await this.#found(taskId);
    const { store } = this.#parts;
    const artifact = isId(id) ? await store.artifacts.get(id) : undefined;
    if (artifact === undefined || artifact.taskId !== taskId) throw notFound("artifact");
    return (
      (await changesAnswer(request, artifact, store)) ?? downloadAnswer(request, artifact, store)
    );
  }

  async #events(request: Request, context: Context, taskId: string): Promise<Response> {
    const { state, events } = await this.#found(taskId);
    const { store, bus, stopping } = this.#parts;
    const last = request.headers.get("last-event-id") ?? "0";
    if (!/^\d{1,15}$/.test(last)) throw invalid("Last-Event-ID is to be a number");
    // An EventSource asks again and again until it gets this answer (HTML, section 9.2.3).
    if (state !== "open" && events > 0 && Number(last) >= events) {
      return new Response(null, { status: 204 });
    }
    const signal = AbortSignal.any([context.signal, stopping]);
    return eventsAnswer({ store, bus }, { taskId, after: Number(last), signal });
  }

  async #run(taskId: string): Promise<Response> {
    const { state } = await this.#found(taskId);
    if (state === "canceled") throw new HttpFailure(409, "canceled", "the task was canceled");
    const { store, automatic } = this.#parts;
    await store.setAutomatic(taskId, "on");
    automatic.look();
    return json(await this.#task(taskId));
  }

  async #cancel(taskId: string): Promise<Response> {
    await this.#found(taskId);
    const { store, runner } = this.#parts;
    await store.cancel(taskId);
    runner.cancel(taskId);
    return json(await this.#task(taskId));
  }

  async #delete(taskId: string): Promise<Response> {
    await this.#found(taskId);
    const { store, runner } = this.#parts;
    if (!(await store.remove(taskId))) throw notFound("task");
    runner.cancel(taskId);
    return new Response(null, { status: 204 });
  }

  async #archive(taskId: string): Promise<Response> {
    await this.#found(taskId);
    return archiveAnswer(taskId, this.#parts.store);
  }
}

function isId(text: string): boolean {
  return /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(text);
}
