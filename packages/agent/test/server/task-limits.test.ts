import { openStore, type Store } from "@fetchwork/documents";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Budget } from "../../src/calls/budget.ts";
import { TaskBus } from "../../src/server/task-bus.ts";
import { TaskStore } from "../../src/server/task-store.ts";
import { defineAgent } from "../../src/server/task-agent.ts";
import type { Task } from "../../src/server/wire.ts";
import { editScript } from "../edit-script.ts";
import { startModelServer, type ModelServerOptions } from "../model-server.ts";
import { manyFiles, projectScript } from "../project-script.ts";
import { bodyOf, notes, post, serveWith, startTasks, type TaskWorld } from "./task-world.ts";

async function sharedStore(): Promise<Store> {
  const store = await openStore("sqlite::memory:");
  onTestFinished(() => store.close());
  return store;
}

async function startModel(options: ModelServerOptions) {
  const model = await startModelServer(options);
  onTestFinished(() => model.close());
  return model;
}

const taskOf = async ({ ask }: TaskWorld, id: string): Promise<Task> =>
  bodyOf<Task>(await ask(`/tasks/${id}`));

/** Begins a step of a task in a store, as a server does. */
async function beginStep(tasks: TaskStore, id: string) {
  const lease = await tasks.claim(id, 60_000);
  const begun = lease && (await tasks.begin(lease, { input: null, additionalInput: {} }));
  if (lease === undefined || begun === undefined) throw new Error("there is no step");
  return { lease, task: begun.task };
}

const done = {
  output: null,
  additionalOutput: {},
  files: [],
  next: [],
  usage: { inputTokens: 0, outputTokens: 0, cost: 0, calls: 0 },
};

describe("the tokens of a task", () => {
  it("are shared by all servers that run steps of it", async () => {
    const model = await startModel({ answers: projectScript(manyFiles(8)), delay: 30 });
    const store = await sharedStore();
    // There is room for the worst case of one call, and never of two.
    const options = { store, budget: { maxTokens: 18_000, maxOutputTokens: 9_000 } };
    const one = await serveWith(model, options);
    const two = await serveWith(model, options);
    const { task_id: id } = await one.create();
    await one.step(id);
    await two.step(id);
    await Promise.all(
      Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? one : two).step(id)),
    );
    expect(model.peak).toBe(1);
    expect(await taskOf(two, id)).toMatchObject({ state: "completed", usage: { calls: 10 } });
  });

  it("are charged at their worst, in all steps, where the model's server does not say them", async () => {
    const model = await startModel({ answers: projectScript(manyFiles(20)), usage: false });
    const options = {
      store: await sharedStore(),
      budget: { maxTokens: 12_000, maxOutputTokens: 999 },
    };
    const world = await serveWith(model, options);
    const { task_id: id } = await world.create();
    let status = 200;
    while (status === 200) status = (await world.ask(`/tasks/${id}/steps`, post())).status;
    expect(status).toBe(402);
    const asked = model.requests.length;
    expect(asked).toBeLessThan(12);
    const next = await serveWith(model, options);
    expect((await next.ask(`/tasks/${id}/steps`, post())).status).toBe(402);
    expect(model.requests.length).toBe(asked);
  });

  it("are charged that a server had reserved when it ended", async () => {
    const tasks = new TaskStore(await sharedStore(), new TaskBus());
    const steps = [{ name: "ends its server", last: true }];
    const { id } = await tasks.create({ input: "x", additionalInput: {}, automatic: false, steps });
    const { lease } = await beginStep(tasks, id);
    const budget = new Budget({ maxTokens: 2_000, maxOutputTokens: 1_000 });
    budget.share(tasks.spendingOf(lease, console.error), { elapsed: 0 });
    const request = { model: "m", messages: [{ role: "user", content: "x" }] } as const;
    await budget.reserve(request, new AbortController().signal);
    expect((await tasks.tasks.get(id))?.charged).toBeUndefined();
    await tasks.recover("all");
    const { held, charged } = (await tasks.tasks.get(id)) ?? {};
    expect(held).toEqual({});
    expect(charged?.tokens).toBeGreaterThan(1_000);
  });

  it("are counted of an edit of which nothing comes", async () => {
    const wrong = { path: "nowhere.js", search: "x", replace: "y" };
    const world = await startTasks({}, [...projectScript(notes), ...editScript([wrong])]);
    const { task_id: id } = await world.create();
    await world.finish(id);
    const { usage } = await taskOf(world, id);
    const more = { input: "more", additional_input: { continue: true } };
    expect((await world.ask(`/tasks/${id}/steps`, post(more))).status).toBe(502);
    const after = await taskOf(world, id);
    expect(after.usage.calls).toBe(world.model.requests.length);
    expect(after.usage.calls).toBeGreaterThan(usage.calls);
  });
});

describe("a plan", () => {
  const planned = (text: string) => [{ match: ["# Plan\n"], text }, ...projectScript(notes)];

  it.each([
    ["is a refusal in words", "I'm sorry, but I can't help with that.", "ERR_AGENT_REFUSED"],
    ["is longer than a file may be", "- a.js\n".repeat(20), "ERR_AGENT_LIMIT"],
  ])("is no file of the task when it %s", async (_, text, code) => {
    const world = await startTasks({ maxFileBytes: 100 }, planned(text));
    const { task_id: id } = await world.create();
    const response = await world.ask(`/tasks/${id}/steps`, post());
    expect(await response.json()).toMatchObject({ code });
    expect(await taskOf(world, id)).toMatchObject({ state: "failed", artifacts: [] });
  });
});

describe("the time of a task", () => {
  it("is that in which steps of it ran, at whatever server", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: 1_000_000 });
    onTestFinished(() => void vi.useRealTimers());
    const store = await sharedStore();
    const [one, two] = [new TaskStore(store, new TaskBus()), new TaskStore(store, new TaskBus())];
    const steps = ["a", "b", "c"].map((name) => ({ name }));
    const { id } = await one.create({ input: "x", additionalInput: {}, automatic: false, steps });
    const first = await beginStep(one, id);
    vi.setSystemTime(1_000_100);
    const second = await beginStep(two, id);
    expect(second.task.worked?.time).toBe(100);
    vi.setSystemTime(1_000_150);
    await two.finish(second.lease, done);
    vi.setSystemTime(1_000_400);
    await one.finish(first.lease, done);
    // Nobody works at it.
    vi.setSystemTime(9_000_000);
    const third = await beginStep(two, id);
    expect(third.task.worked?.time).toBe(400);
    vi.setSystemTime(9_000_007);
    await two.countTime(third.lease);
    expect((await one.tasks.get(id))?.worked?.time).toBe(407);
  });

  it("is 402 when it is over", async () => {
    const store = await sharedStore();
    const world = await startTasks({ store, budget: { maxTime: 600_000 } });
    const { task_id: id } = await world.create();
    await world.step(id);
    const { tasks } = new TaskStore(store, new TaskBus());
    await tasks.update(id, { worked: { time: 600_000, seen: Date.now() } });
    const response = await world.ask(`/tasks/${id}/steps`, post());
    expect(response.status).toBe(402);
    expect(await response.json()).toMatchObject({ message: "the time of 600000 ms is used up" });
    expect(world.model.requests).toHaveLength(1);
  });
});

describe("the bytes of a task", () => {
  it("are not passed by steps that write at the same time", async () => {
    const both = Promise.withResolvers<void>();
    let running = 0;
    const agent = defineAgent({
      onTask: () => [{ name: "a.txt" }, { name: "b.txt", last: true }],
      onStep: async ({ name }) => {
        running += 1;
        if (running === 2) both.resolve();
        await both.promise;
        return { files: [{ path: name, content: "x".repeat(60) }], maxTotalBytes: 100 };
      },
    });
    const world = await startTasks({ agent });
    const { task_id: id } = await world.create();
    const answers = await Promise.all([1, 2].map(() => world.ask(`/tasks/${id}/steps`, post())));
    expect(answers.map(({ status }) => status)).toEqual(expect.arrayContaining([200, 422]));
    expect((await taskOf(world, id)).artifacts).toHaveLength(1);
  });
});
