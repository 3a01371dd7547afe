import { openStore, type Store } from "@fetchwork/documents";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { RunningTask, withUse } from "../../src/server/running-task.ts";
import { TaskBus } from "../../src/server/task-bus.ts";
import type { TaskRecord } from "../../src/server/task-records.ts";
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

describe("the tokens of a task", () => {
  it("are shared by all steps that a server runs at the same time", async () => {
    const model = await startModel({ answers: projectScript(manyFiles(8)), delay: 30 });
    // There is room for the worst case of one call, and never of two.
    const budget = { maxTokens: 18_000, maxOutputTokens: 9_000 };
    const world = await serveWith(model, { budget });
    const { task_id: id } = await world.create();
    await world.step(id);
    await world.step(id);
    await Promise.all(Array.from({ length: 8 }, () => world.step(id)));
    expect(model.peak).toBe(1);
    expect(await taskOf(world, id)).toMatchObject({ state: "completed", usage: { calls: 10 } });
  });

  it("are counted that another server stored, before a step and after it has failed", async () => {
    const model = await startModel({ answers: projectScript(manyFiles(20)) });
    const store = await sharedStore();
    const before = await serveWith(model, { store });
    const { task_id: id } = await before.create();
    await before.step(id);
    const { usage } = await taskOf(before, id);
    const used = usage.inputTokens + usage.outputTokens;
    const budget = { maxTokens: used + 300, maxOutputTokens: 300 };
    const world = await serveWith(model, { store, budget });
    for (const _ of ["first", "second"]) {
      const response = await world.ask(`/tasks/${id}/steps`, post());
      expect(response.status).toBe(402);
      expect(await response.json()).toMatchObject({
        message: `the budget has no room for another call, after ${used} tokens`,
      });
    }
    expect(model.requests).toHaveLength(1);
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
  ])("is not a file of the task when it %s", async (_, text, code) => {
    const world = await startTasks({ maxFileBytes: 100 }, planned(text));
    const { task_id: id } = await world.create();
    const response = await world.ask(`/tasks/${id}/steps`, post());
    expect(await response.json()).toMatchObject({ code });
    expect(await taskOf(world, id)).toMatchObject({ state: "failed", artifacts: [] });
  });
});

describe("the time of a task", () => {
  it("is that in which steps of it ran, also before a restart, and 402 when it is over", async () => {
    const store = await sharedStore();
    const tasks = new TaskStore(store, new TaskBus());
    const worlds = [0, 1].map(() => startTasks({ store, budget: { maxTime: 600_000 } }));
    const [one, two] = await Promise.all(worlds);
    if (one === undefined || two === undefined) throw new Error("there are no servers");
    const { task_id: id } = await one.create();
    const began = performance.now();
    await one.step(id);
    const { worked = 0 } = (await tasks.tasks.get(id)) ?? {};
    expect(worked).toBeGreaterThan(0);
    expect(worked).toBeLessThanOrEqual(Math.ceil(performance.now() - began));
    await tasks.tasks.update(id, { worked: 600_000 });
    const response = await two.ask(`/tasks/${id}/steps`, post());
    expect(response.status).toBe(402);
    expect(await response.json()).toMatchObject({ message: "the time of 600000 ms is used up" });
    expect(two.model.requests).toHaveLength(0);
  });

  it("is counted once of steps that run at the same time", () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const usage = { inputTokens: 0, outputTokens: 0, cost: 0, calls: 0 };
    const begun = { input: "x", additionalInput: {}, state: "open", automatic: false } as const;
    let task: TaskRecord = { ...begun, steps: 2, open: 2, begun: 2, events: 0, usage };
    const running = new RunningTask(task, { maxTime: 600_000 });
    onTestFinished(() => running.budget.end());
    for (const milliseconds of [100, 50]) {
      vi.advanceTimersByTime(milliseconds);
      task = { ...task, ...withUse(task, running.use(usage)) };
    }
    expect(task.worked).toBe(150);
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
