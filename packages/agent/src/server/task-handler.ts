import type { Context, Handler } from "@fetchwork/http";
import { json } from "@fetchwork/http";
import type { Store, Stored } from "@fetchwork/documents";
import { checkCount } from "../errors.ts";
import { AutomaticTasks } from "./automatic-tasks.ts";
import { documentsIdempotency } from "./idempotency-records.ts";
import { createGuard, type GuardOptions } from "./guard.ts";
import { HttpFailure, invalid, notFound } from "./http-failure.ts";
import { once } from "./once.ts";
import { openApiDocument } from "./openapi.ts";
import { pagination, readPage } from "./paging.ts";
import { readInput, readJson } from "./read-json.ts";
import { readUpload } from "./read-upload.ts";
import { archiveAnswer, downloadAnswer, eventsAnswer } from "./stream-answers.ts";
import { Interruption, toHttpFailure } from "./step-failure.ts";
import { StepRunner } from "./step-runner.ts";
import { TaskInputError, type JsonObject, type TaskAgent } from "./task-agent.ts";
import { TaskBus } from "./task-bus.ts";
import type { StepRecord, TaskRecord } from "./task-records.ts";
import { TaskStore } from "./task-store.ts";
import { toYaml } from "./to-yaml.ts";
import { pageAssets } from "./page-assets.ts";
import { toArtifact, toStep, toTask, type Task } from "./wire.ts";

/** What serves tasks. */
export interface TaskHandlerOptions extends GuardOptions {
  /** Keeps the tasks; several servers may share one. */
  readonly store: Store;
  /** Runs the steps. */
  readonly agent: TaskAgent;
  /** Whether no other process uses the store, so that every running step is lost at the start. Default: `false`. */
  readonly exclusive?: boolean | undefined;
  /** Milliseconds after which another server runs the step of one that is gone, from 300 on. Default: `30_000`. */
  readonly lease?: number | undefined;
  /** Tasks that this server runs by itself at the same time (`POST …/run`). Default: 4. */
  readonly automaticTasks?: number | undefined;
  /** Most bytes of an uploaded file. Default: 32 MiB. */
  readonly maxUploadBytes?: number | undefined;
  /** Most files of a task, uploads included. Default: `10_000`. */
  readonly maxFiles?: number | undefined;
  /** Hears what went wrong inside of the server. Default: `console.error`. */
  readonly reportError?: ((error: unknown) => void) | undefined;
}

/** A handler of the task API, with what runs behind it. */
export interface TaskHandler extends AsyncDisposable {
  readonly handler: Handler;
  /**
   * Begins no more steps, and ends those that run after `gracePeriod` milliseconds (default: 0); they are run again
   * later, here or elsewhere. Does not close the store.
   */
  stop(options?: { readonly gracePeriod?: number | undefined }): Promise<void>;
}

/** Bytes of a JSON body. */
const largestBody = 1_048_576;

/**
 * Makes the handler of the task API: the nine operations of the Agent Protocol, version 1, under `/agent` and
 * `/ap/v1/agent`, events, run, cancel, delete and archive, the OpenAPI document, `/healthz`, and the page at `/`.
 *
 * @throws AgentUsageError `ERR_AGENT_OPTION`
 */
export async function createTaskHandler(options: TaskHandlerOptions): Promise<TaskHandler> {
  const { agent, exclusive = false, lease = 30_000, automaticTasks = 4 } = options;
  const { reportError = console.error } = options;
  checkCount("lease", lease, 300);
  checkCount("automaticTasks", automaticTasks);
  checkCount("maxUploadBytes", options.maxUploadBytes);
  checkCount("maxFiles", options.maxFiles);
  const bus = new TaskBus();
  const store = new TaskStore(options.store, bus);
  const runner = new StepRunner({ store, bus, agent, lease, reportError });
  const automatic = new AutomaticTasks({
    store,
    runner,
    agent,
    limit: automaticTasks,
    lease,
    pollInterval: Math.min(2_000, lease),
    reportError,
  });
  await store.recover(exclusive ? "all" : "expired");
  const stopping = new AbortController();
  const api = new TaskApi({ options, store, bus, runner, automatic, stopping: stopping.signal });
  const stop: TaskHandler["stop"] = async ({ gracePeriod = 0 } = {}) => {
    stopping.abort(new Error("the server stops"));
    await Promise.all([automatic.stop(), runner.stop(gracePeriod)]);
  };
  const handler = api.handler();
  automatic.start();
  return { handler, stop, [Symbol.asyncDispose]: () => stop() };
}

interface ApiParts {
  readonly options: TaskHandlerOptions;
  readonly store: TaskStore;
  readonly bus: TaskBus;
  readonly runner: StepRunner;
  readonly automatic: AutomaticTasks;
  readonly stopping: AbortSignal;
}

type Operation = (
  request: Request,
  context: Context,
  ids: readonly string[],
) => Promise<Response> | Response;

class TaskApi {
  readonly #parts: ApiParts;
  readonly #maxUpload: number;
  readonly #maxFiles: number;

  constructor(parts: ApiParts) {
    this.#parts = parts;
    const { maxUploadBytes = 32 * 1024 * 1024, maxFiles = 10_000 } = parts.options;
    this.#maxUpload = maxUploadBytes;
    this.#maxFiles = maxFiles;
  }

  handler(): Handler {
    const { options, store } = this.#parts;
    const { reportError = console.error } = options;
    const guard = createGuard(options);
    const onceOnly = once(documentsIdempotency(options.store));
    const api = this.#operations(onceOnly);
    const open = openRoutes(async () => void (await store.tasks.count({ max: 1 })));
    const answer = async (request: Request, context: Context): Promise<Response> => {
      guard.checkOrigin(request);
      const path = pathOf(request.url);
      const asset = open.get(path);
      if (asset !== undefined) return checkMethod(request, ["GET", "HEAD"]) ?? asset(request);
      guard.checkToken(request);
      const segments = path.split("/").slice(1);
      const rest = segments[0] === "ap" && segments[1] === "v1" ? segments.slice(2) : segments;
      const [root, kind, taskId, part, id] = rest;
      if (root !== "agent" || kind !== "tasks" || rest.length > 5) throw notFound("page");
      const name = [taskId !== undefined && "task", part, id !== undefined && "one"]
        .filter((word) => typeof word === "string")
        .join(" ");
      const methods = api.get(name);
      if (methods === undefined) throw notFound("page");
      const method = request.method === "HEAD" ? "GET" : request.method;
      const operation = methods[method];
      if (operation === undefined) {
        const allow = Object.keys(methods);
        return checkMethod(request, allow.includes("GET") ? [...allow, "HEAD"] : allow) ?? failed();
      }
      return await operation(request, context, [taskId ?? "", id ?? ""]);
    };
    return async (request, context) => {
      try {
        return secured(await answer(request, context));
      } catch (error) {
        return secured(toAnswer(error, reportError));
      }
    };
  }

  #operations(
    onceOnly: (operation: Operation) => Operation,
  ): ReadonlyMap<string, { readonly [method: string]: Operation }> {
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
    const { agent } = this.#parts.options;
    const { input, additionalInput } = readInput(await readJson(request, largestBody));
    if (input === null || input.trim() === "") throw invalid("input is to say what to program");
    const automatic = additionalInput["run"] === true;
    const steps = agent.onTask({ input, additionalInput });
    const { store } = this.#parts;
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
    const { store } = this.#parts;
    const count = await store.artifacts.count({ where: { taskId }, max: this.#maxFiles });
    if (count >= this.#maxFiles) throw invalid(`a task has at most ${this.#maxFiles} files`);
    await using upload = await readUpload(request, this.#maxUpload);
    const artifact = await store.upload(taskId, upload.file);
    if (artifact === undefined) throw notFound("task");
    return json(toArtifact(artifact));
  }

  async #download(request: Request, taskId: string, id: string): Promise<Response> {
    await this.#found(taskId);
    const { store } = this.#parts;
    const artifact = isId(id) ? await store.artifacts.get(id) : undefined;
    if (artifact === undefined || artifact.taskId !== taskId) throw notFound("artifact");
    return downloadAnswer(request, artifact, store);
  }

  async #events(request: Request, context: Context, taskId: string): Promise<Response> {
    await this.#found(taskId);
    const { store, bus, stopping } = this.#parts;
    const last = request.headers.get("last-event-id") ?? "0";
    if (!/^\d{1,15}$/.test(last)) throw invalid("Last-Event-ID is to be a number");
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

/** What needs no token: it has nothing of anybody. */
function openRoutes(
  check: () => Promise<void>,
): ReadonlyMap<string, (request: Request) => Promise<Response> | Response> {
  const yaml = toYaml(openApiDocument);
  const headers = { "content-type": "application/yaml" };
  return new Map<string, (request: Request) => Promise<Response> | Response>([
    ...pageAssets(),
    ["/openapi.json", () => json(openApiDocument)],
    ["/openapi.yaml", () => new Response(yaml, { headers })],
    [
      "/healthz",
      async () => {
        await check();
        return json({ status: "ok" });
      },
    ],
  ]);
}

function pathOf(url: string): string {
  const path = new URL(url).pathname;
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

function isId(text: string): boolean {
  return /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(text);
}

function checkMethod(request: Request, allowed: readonly string[]): Response | undefined {
  if (allowed.includes(request.method)) return undefined;
  const allow = allowed.join(", ");
  const message = `${allow} is expected`;
  return json({ message, code: "method" }, { status: 405, headers: { allow } });
}

function failed(): Response {
  return json({ message: "the server failed", code: "internal" }, { status: 500 });
}

function toAnswer(error: unknown, reportError: (error: unknown) => void): Response {
  if (error instanceof TaskInputError) return toAnswer(invalid(error.message), reportError);
  if (!(error instanceof HttpFailure)) {
    reportError(error);
    return failed();
  }
  const { status, headers, message, code, retryable } = error;
  const body: JsonObject = { message, code, retryable };
  return json(body, { status, headers });
}

/** What a browser must not do with answers: guess their type, show them in other pages, keep them. */
function secured(response: Response): Response {
  const { headers } = response;
  headers.set("x-content-type-options", "nosniff");
  headers.set("cross-origin-resource-policy", "same-origin");
  headers.set("referrer-policy", "no-referrer");
  if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
  return response;
}
