import { openStore } from "@fetchwork/documents";
import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import { writeEvents } from "../../src/server/event-stream.ts";
import { TaskBus } from "../../src/server/task-bus.ts";
import { TaskStore } from "../../src/server/task-store.ts";

afterEach(() => void vi.useRealTimers());

async function watched() {
  const documents = await openStore("sqlite::memory:");
  onTestFinished(() => documents.close());
  const bus = new TaskBus();
  const store = new TaskStore(documents, bus);
  const steps = [{ name: "a" }];
  const task = { input: "x", additionalInput: {}, automatic: false, steps };
  const { id: taskId } = await store.create(task);
  const ended = new AbortController();
  const events = writeEvents({ store, bus }, { taskId, after: 0, signal: ended.signal });
  expect((await events.next()).value).toMatch(/^retry: 1000\nevent: task\n/);
  return { bus, taskId, events, ended };
}

it("an event stream keeps a limited part of the live text for who reads slowly, and goes on with what comes later", async () => {
  const { bus, taskId, events, ended } = await watched();
  // Nobody asks for more in the meantime.
  for (let count = 0; count < 100; count += 1) {
    bus.publish(taskId, { stepId: "s", text: "x".repeat(10_000) });
  }
  const { length } = String((await events.next()).value);
  expect(length).toBeGreaterThan(200_000);
  expect(length).toBeLessThan(263_000);
  const later = events.next();
  bus.publish(taskId, { stepId: "s", text: "later" });
  expect((await later).value).toBe('event: text\ndata: {"step_id":"s","text":"later"}\n\n');
  ended.abort();
  expect((await events.next()).done).toBe(true);
});

it("an event stream sends a comment when nothing happens for a while, so that no proxy closes the connection", async () => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
  const { events, ended } = await watched();
  const next = events.next();
  let told: string | undefined;
  void next.then(({ value }) => (told = String(value)));
  for (let half = 0; half < 100 && told === undefined; half += 1) {
    await vi.advanceTimersByTimeAsync(500);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(told).toBe(": nothing new\n\n");
  ended.abort();
  expect((await events.next()).done).toBe(true);
});
