import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import {
  noPostgres,
  startPostgres,
  type PostgresServer,
} from "../../../documents/test/postgres-server.ts";
import type { Step, Task } from "../../src/server/wire.ts";
import { startModelServer, type ModelServer, type ScriptedAnswer } from "../model-server.ts";
import { manyFiles, projectScript } from "../project-script.ts";
import { bodyOf, notes, post, serveWith } from "./task-world.ts";

interface ServerProcess {
  readonly url: string;
  readonly process: ChildProcess;
}

async function startProcess(store: string, model: ModelServer): Promise<ServerProcess> {
  const file = new URL("tasks-process.ts", import.meta.url).pathname;
  const child = spawn(
    process.execPath,
    ["--conditions=@fetchwork/source", file, store, model.baseUrl],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  return { url: `${line}agent`, process: child };
}

async function startModel(answers: readonly ScriptedAnswer[]): Promise<ModelServer> {
  const model = await startModelServer({ answers });
  onTestFinished(() => model.close());
  return model;
}

/** How often each file was asked for. */
function asked({ requests }: ModelServer): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { messages } of requests) {
    const [, path] = /Answer with the source of (.+)\.$/.exec(messages.at(-1) ?? "") ?? [];
    if (path !== undefined) counts.set(path, (counts.get(path) ?? 0) + 1);
  }
  return counts;
}

async function waitForEnd(url: string, taskId: string): Promise<Task> {
  const task = async (): Promise<Task> => bodyOf<Task>(await fetch(`${url}/tasks/${taskId}`));
  return vi.waitUntil(
    async () => {
      const now = await task();
      return now.state === "completed" ? now : undefined;
    },
    { timeout: 40_000, interval: 50 },
  );
}

describe.skipIf(noPostgres)("servers that share one PostgreSQL", () => {
  let postgres: PostgresServer;

  beforeAll(async () => {
    postgres = await startPostgres();
  }, 90_000);
  afterAll(() => postgres.stop(), 60_000);

  it("share the steps of a task, each of which is run once", async () => {
    const model = await startModel(
      projectScript(manyFiles(16)).map((answer) => ({ ...answer, delay: 60 })),
    );
    const store = await postgres.create();
    const servers = await Promise.all([startProcess(store, model), startProcess(store, model)]);
    const [one, two] = servers.map(({ url }) => url);
    const task = await bodyOf<Task>(await fetch(`${one}/tasks`, post({ input: "many files" })));
    const path = `/tasks/${task.task_id}/steps`;
    await bodyOf(await fetch(`${one}${path}`, post()));
    await bodyOf(await fetch(`${two}${path}`, post()));
    const steps = await Promise.all(
      Array.from({ length: 16 }, async (_, index) =>
        bodyOf<Step>(await fetch(`${index % 2 === 0 ? one : two}${path}`, post())),
      ),
    );
    expect(new Set(steps.map(({ step_id: id }) => id)).size).toBe(16);
    expect([...asked(model).values()]).toEqual(Array.from({ length: 16 }, () => 1));
    const finished = await bodyOf<Task>(await fetch(`${two}/tasks/${task.task_id}`));
    expect(finished.state).toBe("completed");
    expect(finished.artifacts).toHaveLength(17);
  }, 90_000);

  it("finish what one of them was killed in, and pay nothing twice but the step that was lost", async () => {
    const model = await startModel(
      projectScript(manyFiles(6), {
        first: [
          {
            match: ["Answer with the source of src/part-3.js."],
            times: 1,
            fault: { kind: "silence" },
          },
        ],
      }),
    );
    const store = await postgres.create();
    const first = await startProcess(store, model);
    const task = await bodyOf<Task>(
      await fetch(
        `${first.url}/tasks`,
        post({ input: "many files", additional_input: { run: true, concurrency: 1 } }),
      ),
    );
    await vi.waitUntil(() => asked(model).has("src/part-3.js"), { timeout: 40_000, interval: 10 });
    first.process.kill("SIGKILL");
    await once(first.process, "exit");
    const second = await startProcess(store, model);
    const finished = await waitForEnd(second.url, task.task_id);
    expect(finished.artifacts).toHaveLength(7);
    expect(Object.fromEntries(asked(model))).toEqual({
      "src/part-0.js": 1,
      "src/part-1.js": 1,
      "src/part-2.js": 1,
      "src/part-3.js": 2,
      "src/part-4.js": 1,
      "src/part-5.js": 1,
    });
    const { steps } = await bodyOf<{ readonly steps: readonly Step[] }>(
      await fetch(`${second.url}/tasks/${task.task_id}/steps`),
    );
    expect(steps.map(({ additional_output: { attempts } }) => attempts)).toEqual([
      1, 1, 1, 1, 1, 2, 1, 1,
    ]);
  }, 90_000);

  it("tell of each other's steps, and cancel them", async () => {
    const silent = { match: ["# Plan\n"], tool: null, fault: { kind: "silence" } } as const;
    const model = await startModel([silent]);
    const store = await postgres.create();
    const one = await startProcess(store, model);
    const two = await startProcess(store, model);
    const task = await bodyOf<Task>(await fetch(`${one.url}/tasks`, post({ input: "x" })));
    const path = `/tasks/${task.task_id}`;
    const events = await fetch(`${two.url}${path}/events`);
    const running = fetch(`${one.url}${path}/steps`, post());
    let told = "";
    for await (const chunk of events.body ?? []) {
      told += new TextDecoder().decode(chunk);
      if (told.includes("step.started")) break;
    }
    await bodyOf(await fetch(`${two.url}${path}/cancel`, post()));
    expect((await running).status).toBe(409);
  }, 90_000);

  it("remember answers for a key together", async () => {
    const model = await startModel(projectScript(notes));
    const store = await postgres.create();
    const one = await startProcess(store, model);
    const two = await startProcess(store, model);
    const init = post({ input: "notes" }, { "idempotency-key": "only-one" });
    const first = await bodyOf<Task>(await fetch(`${one.url}/tasks`, init));
    const second = await bodyOf<Task>(await fetch(`${two.url}/tasks`, init));
    expect(second.task_id).toBe(first.task_id);
  }, 90_000);
});

it("a server that was killed in a step, with its SQLite file, puts the step back at once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tasks-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const store = `sqlite:${folder}/tasks.db`;
  const silent = { match: ["# Plan\n"], tool: null, times: 1, fault: { kind: "silence" } } as const;
  const model = await startModel(projectScript(notes, { first: [silent] }));
  const first = await startProcess(store, model);
  const task = await bodyOf<Task>(await fetch(`${first.url}/tasks`, post({ input: "notes" })));
  const keyed = post(undefined, { "idempotency-key": "the-plan" });
  const lost = fetch(`${first.url}/tasks/${task.task_id}/steps`, keyed).catch(() => undefined);
  await vi.waitUntil(() => model.requests.length === 1, { timeout: 40_000, interval: 10 });
  const ended = once(first.process, "exit");
  first.process.kill("SIGKILL");
  await ended;
  await lost;
  const world = await serveWith(model, { store, lease: 600_000 });
  const { steps } = await bodyOf<{ readonly steps: readonly Step[] }>(
    await world.ask(`/tasks/${task.task_id}/steps`),
  );
  expect(steps[0]?.status).toBe("created");
  // The key of the lost request falls free with the lease of its server.
  const again = await vi.waitUntil(
    async () => {
      const response = await world.ask(`/tasks/${task.task_id}/steps`, keyed);
      return response.status === 409 ? undefined : response;
    },
    { timeout: 20_000, interval: 100 },
  );
  expect(await bodyOf<Step>(again)).toMatchObject({
    status: "completed",
    additional_output: { attempts: 2 },
  });
}, 90_000);
