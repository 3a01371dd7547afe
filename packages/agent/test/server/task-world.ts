import type { RunningServer } from "@fetchwork/http/serve";
import { onTestFinished, vi } from "vitest";
import { openAICompatible } from "../../src/models/http-providers.ts";
import { serveTasks, type ServeTasksOptions } from "../../src/server/serve-tasks.ts";
import type { Artifact, Step, Task } from "../../src/server/wire.ts";
import { startModelServer, type ModelServer, type ScriptedAnswer } from "../model-server.ts";
import { projectScript } from "../project-script.ts";

/** A small program: one file uses the other. */
export const notes: ReadonlyMap<string, string> = new Map([
  ["src/store.js", 'export const notes = ["buy milk"];\n'],
  ["src/main.js", 'import { notes } from "./store.js";\nconsole.log(notes.length);\n'],
]);

/** A server of tasks and the scripted model behind it; both end with the test. */
export interface TaskWorld {
  readonly url: string;
  readonly server: RunningServer;
  readonly model: ModelServer;
  /** What the server reported as its own failures. */
  readonly reported: unknown[];
  /** Resolves when the model was asked so often. */
  asked(count: number): Promise<unknown>;
  /** Asks for a path below `/agent`. */
  ask(path: string, init?: RequestInit): Promise<Response>;
  /** Creates a task. */
  create(input?: string, additionalInput?: object): Promise<Task>;
  /** Runs the next step and expects it to work. */
  step(taskId: string, body?: object): Promise<Step>;
  /** Runs steps until the last one. */
  finish(taskId: string): Promise<readonly Step[]>;
}

/** Starts both. */
export async function startTasks(
  options: ServeTasksOptions = {},
  answers: readonly ScriptedAnswer[] = projectScript(notes),
): Promise<TaskWorld> {
  const model = await startModelServer({ answers });
  onTestFinished(() => model.close());
  return serveWith(model, options);
}

/** Starts a server of tasks in front of a model that runs. */
export async function serveWith(
  model: ModelServer,
  options: ServeTasksOptions = {},
): Promise<TaskWorld> {
  const reported: unknown[] = [];
  const server = await serveTasks({
    port: 0,
    store: "sqlite::memory:",
    provider: openAICompatible({ baseUrl: model.baseUrl, model: "scripted" }),
    retry: { delay: 1 },
    signals: false,
    gracePeriod: 0,
    reportError: (error) => reported.push(error),
    ...options,
  });
  onTestFinished(() => server.close({ gracePeriod: 0 }));
  const url = server.url.replace(/\/$/, "");
  const ask = (path: string, init?: RequestInit): Promise<Response> =>
    fetchOnce(`${url}/agent${path}`, init);
  const step = async (taskId: string, body?: object): Promise<Step> =>
    bodyOf<Step>(await ask(`/tasks/${taskId}/steps`, body === undefined ? post() : post(body)));
  return {
    url,
    server,
    model,
    reported,
    ask,
    step,
    asked: (count) =>
      vi.waitUntil(() => model.requests.length >= count, { interval: 5, timeout: 10_000 }),
    create: async (input = "a list of notes", additionalInput) =>
      bodyOf<Task>(await ask("/tasks", post({ input, additional_input: additionalInput }))),
    finish: async (taskId) => {
      const steps: Step[] = [];
      while (steps.at(-1)?.is_last !== true) steps.push(await step(taskId));
      return steps;
    },
  };
}

/** Fetches over a connection that is not kept: a server that stops waits for its next request. */
export function fetchOnce(url: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("connection", "close");
  return fetch(url, { ...init, headers });
}

/** A POST, with or without a JSON body. */
export function post(body?: object, headers: Record<string, string> = {}): RequestInit {
  if (body === undefined) return { method: "POST", headers };
  return {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
}

/** An upload. */
export function upload(name: string, content: string | Uint8Array, folder?: string): RequestInit {
  const form = new FormData();
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  form.append("file", new Blob([new Uint8Array(bytes)]), name);
  if (folder !== undefined) form.append("relative_path", folder);
  return { method: "POST", body: form };
}

/** The body of a success. */
export async function bodyOf<T>(response: Response): Promise<T> {
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
  return JSON.parse(text) as T;
}

/** The text of a file of a task. */
export async function textOf(
  { ask }: TaskWorld,
  taskId: string,
  { artifact_id: id }: Artifact,
): Promise<string> {
  return (await ask(`/tasks/${taskId}/artifacts/${id}`)).text();
}
