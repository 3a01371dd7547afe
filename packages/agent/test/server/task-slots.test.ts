import { expect, it } from "vitest";
import { TaskSlots } from "../../src/server/task-slots.ts";

const never = new AbortController().signal;

it("TaskSlots hands the slot to the next who still waits", async () => {
  const slots = new TaskSlots();
  const release = await slots.take("a", 1, never);
  const leaving = new AbortController();
  const left = slots.take("a", 1, leaving.signal);
  const second = slots.take("a", 1, never);
  leaving.abort(new Error("gone"));
  await expect(left).rejects.toThrow("gone");
  release();
  const next = await second;
  next();
  // Nobody has it any more.
  (await slots.take("a", 1, never))();
});

it("TaskSlots limits each task for itself", async () => {
  const slots = new TaskSlots();
  await slots.take("a", 1, never);
  await slots.take("b", 1, never);
  const third = slots.take("a", 1, never).then(() => "had a slot");
  expect(await Promise.race([third, Promise.resolve("waits")])).toBe("waits");
});

it("TaskSlots leaves out who is gone already", async () => {
  const gone = AbortSignal.abort(new Error("gone"));
  await expect(new TaskSlots().take("a", 1, gone)).rejects.toThrow("gone");
});
