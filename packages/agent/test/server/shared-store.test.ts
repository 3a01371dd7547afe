import { openStore, type Store } from "@fetchwork/documents";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { TaskBus } from "../../src/server/task-bus.ts";
import { TaskStore } from "../../src/server/task-store.ts";
import { defineAgent, type TaskAgent } from "../../src/server/task-agent.ts";
import type { Step, Task } from "../../src/server/wire.ts";
import { bodyOf, post, startTasks, type TaskWorld } from "./task-world.ts";

/** An agent whose steps end when the test says so, or when they are aborted. */
function patient(): { readonly agent: TaskAgent; readonly begun: string[]; end(): void } {
  const begun: string[] = [];
  const ends = Promise.withResolvers<void>();
  const agent = defineAgent({
    onTask: () => [{ name: "waits", last: true }],
    onStep: async ({ id, signal }) => {
      begun.push(id);
      const aborted = new Promise<never>((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      });
      await Promise.race([ends.promise, aborted]);
      return { output: "done" };
    },
  });
  return { agent, begun, end: () => ends.resolve() };
}

async function sharedStore(): Promise<Store> {
  const store = await openStore("sqlite::memory:");
  onTestFinished(() => store.close());
  return store;
}

const until = (check: () => unknown): Promise<unknown> =>
  vi.waitUntil(check, { timeout: 10_000, interval: 10 });

const stepOf = async (world: TaskWorld, id: string): Promise<Step | undefined> => {
  const list = await bodyOf<{ readonly steps: readonly Step[] }>(
    await world.ask(`/tasks/${id}/steps`),
  );
  return list.steps[0];
};

describe("two servers of one store", () => {
  it.each(["cancel", "delete"])(
    "hear soon of a %s at the other one, however long their leases are",
    async (what) => {
      const store = await sharedStore();
      const { agent, begun } = patient();
      const one = await startTasks({ store, agent, lease: 600_000 });
      const two = await startTasks({ store, agent, lease: 600_000 });
      const { task_id: id } = await one.create();
      const running = one.ask(`/tasks/${id}/steps`, post());
      await until(() => begun.length > 0);
      if (what === "cancel") await two.ask(`/tasks/${id}/cancel`, post());
      else await two.ask(`/tasks/${id}`, { method: "DELETE" });
      expect((await running).status).toBe(409);
    },
  );

  it("keep a step and its key while it runs for longer than both are held", async () => {
    // A busy machine would be late for a renewal of a lease that is short in real time.
    vi.useFakeTimers({ toFake: ["Date", "performance", "setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const store = await sharedStore();
    const { agent, begun, end } = patient();
    const lease = 60_000;
    const one = await startTasks({ store, agent, lease });
    const two = await startTasks({ store, agent, lease });
    const { task_id: id } = await one.create();
    const keyed = post(undefined, { "idempotency-key": "k" });
    const running = one.ask(`/tasks/${id}/steps`, keyed);
    await until(() => begun.length > 0);
    for (let part = 0; part < 9; part += 1) {
      await vi.advanceTimersByTimeAsync(lease / 3);
      expect(await stepOf(two, id)).toMatchObject({ status: "running" });
    }
    expect((await two.ask(`/tasks/${id}/steps`, keyed)).status).toBe(409);
    end();
    const done = await bodyOf<Step>(await running);
    const again = await two.ask(`/tasks/${id}/steps`, keyed);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(await bodyOf<Step>(again)).toEqual(done);
    expect(begun).toHaveLength(1);
  });
});

describe("requests with one key at the same time", () => {
  it("run one step, though others could be run", async () => {
    const begun: string[] = [];
    const agent = defineAgent({
      onTask: () => [{ name: "a" }, { name: "b" }, { name: "c" }],
      onStep: async ({ name }) => {
        begun.push(name);
        return {};
      },
    });
    const world = await startTasks({ agent });
    const { task_id: id } = await world.create();
    const keyed = post(undefined, { "idempotency-key": "k" });
    const sent = Array.from({ length: 6 }, () => world.ask(`/tasks/${id}/steps`, keyed));
    const statuses = (await Promise.all(sent)).map(({ status }) => status);
    expect(statuses).toContain(200);
    expect(statuses.filter((status) => status !== 200 && status !== 409)).toEqual([]);
    expect(begun).toEqual(["a"]);
    await world.step(id);
    expect(begun).toEqual(["a", "b"]);
  });

  it("create one task, whose steps are there once", async () => {
    const store = await sharedStore();
    const { agent } = patient();
    const world = await startTasks({ store, agent });
    const keyed = post({ input: "x" }, { "idempotency-key": "k" });
    const sent = Array.from({ length: 6 }, () => world.ask("/tasks", keyed));
    const statuses = (await Promise.all(sent)).map(({ status }) => status);
    expect(statuses).toContain(200);
    expect(statuses.filter((status) => status !== 200 && status !== 409)).toEqual([]);
    const tasks = new TaskStore(store, new TaskBus());
    expect([await tasks.tasks.count(), await tasks.steps.count()]).toEqual([1, 1]);
  });
});

describe("a step in which its servers end", () => {
  it("is begun five times by itself, then it has failed; anyone who asks may try again", async () => {
    const store = await sharedStore();
    const tasks = new TaskStore(store, new TaskBus());
    const automatic = { input: null, additionalInput: {}, automatic: true };
    const steps = [{ name: "ends its server", last: true }];
    const input = { input: "x", additionalInput: {}, automatic: true, steps };
    const { id } = await tasks.create(input);
    const begin = async (said: typeof automatic): Promise<number | undefined> => {
      const lease = await tasks.claim(id, 60_000);
      return lease && (await tasks.begin(lease, said))?.step.attempts;
    };
    for (const attempt of [1, 2, 3, 4, 5]) {
      expect(await begin(automatic)).toBe(attempt);
      // As a server does that begins, and knows that no other one uses the store.
      expect(await tasks.recover("all")).toBe(1);
    }
    expect(await begin(automatic)).toBeUndefined();
    const { agent, begun, end } = patient();
    const world = await startTasks({ store, agent });
    expect(await bodyOf<Task>(await world.ask(`/tasks/${id}`))).toMatchObject({
      state: "failed",
      automatic: false,
      last_error: { code: "interrupted", message: "the server ended 5 times in this step" },
    });
    expect(await stepOf(world, id)).toMatchObject({
      status: "created",
      additional_output: { state: "failed", attempts: 5 },
    });
    expect(begun).toEqual([]);
    end();
    await bodyOf<Task>(await world.ask(`/tasks/${id}/run`, post()));
    await until(() => begun.length > 0);
    expect(await (await world.ask(`/tasks/${id}/events`)).text()).toContain("task.completed");
  });
});
