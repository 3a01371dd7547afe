import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { holdLock, type LockTable } from "../src/leases/hold-lock.ts";

const free: LockTable = {
  takeLock: () => Promise.resolve(true),
  renewLock: () => Promise.resolve(true),
  releaseLock: () => Promise.resolve(),
};

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ["setInterval", "clearInterval", "setTimeout", "setImmediate", "performance"],
  });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("A lock that is held", () => {
  it("is not lost by a renewal that failed, but by one that came too late", async () => {
    const answers = [() => Promise.reject(new Error("busy")), () => Promise.resolve(false)];
    const table = { ...free, renewLock: () => answers.shift()?.() ?? Promise.resolve(true) };
    const held = holdLock(
      table,
      "a",
      async (lost) => {
        await vi.advanceTimersByTimeAsync(100);
        expect(answers).toHaveLength(1);
        expect(lost.aborted).toBe(false);
        await vi.advanceTimersByTimeAsync(100);
        expect(lost.aborted).toBe(true);
      },
      { expiry: 300 },
    );
    await expect(held).rejects.toMatchObject({ code: "ERR_DOCUMENTS_LEASE" });
  });

  it.each([
    ["fails", () => Promise.reject(new Error("unreachable"))],
    ["gets no answer", () => new Promise<never>(() => undefined)],
  ])("is lost when its time is over and every renewal %s", async (_how, renewLock) => {
    const held = holdLock(
      { ...free, renewLock },
      "a",
      async (lost) => {
        await vi.advanceTimersByTimeAsync(299);
        expect(lost.aborted).toBe(false);
        await vi.advanceTimersByTimeAsync(2);
        expect(lost.aborted).toBe(true);
      },
      { expiry: 300 },
    );
    await expect(held).rejects.toMatchObject({ code: "ERR_DOCUMENTS_LEASE" });
  });

  it("is held for as long as renewals get through", async () => {
    const held = holdLock(
      free,
      "a",
      async (lost) => {
        await vi.advanceTimersByTimeAsync(10_000);
        return lost.aborted;
      },
      { expiry: 300 },
    );
    expect(await held).toBe(false);
  });

  it("is given up with the outcome of the work, also when giving it up fails", async () => {
    const table = { ...free, releaseLock: () => Promise.reject(new Error("gone")) };
    expect(await holdLock(table, "a", () => 5)).toBe(5);
    const failure = new Error("the work's own");
    await expect(holdLock(table, "a", () => Promise.reject(failure))).rejects.toBe(failure);
  });
});

describe("A lock whose grant came after its own expiry", () => {
  it("is released without running the work, and asked for again", async () => {
    const delays = [500, 10];
    const events: string[] = [];
    const table: LockTable = {
      ...free,
      takeLock: async () => {
        await vi.advanceTimersByTimeAsync(delays.shift() ?? 0);
        events.push("taken");
        return true;
      },
      releaseLock: () => {
        events.push("released");
        return Promise.resolve();
      },
    };
    const warnings = vi.spyOn(process, "emitWarning");
    const held = holdLock(table, "a", () => void events.push("work"), { expiry: 300, wait: 5000 });
    await vi.advanceTimersByTimeAsync(1000);
    await held;
    expect(events).toEqual(["taken", "released", "taken", "work", "released"]);
    expect(warnings).not.toHaveBeenCalled();
  });
});
