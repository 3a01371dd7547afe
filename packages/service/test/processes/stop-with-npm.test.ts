import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { type ProcessTable, stopWithNpm } from "../../src/processes/stop-with-npm.ts";

/** As on Windows, where the number of the parent stays. */
const running: ProcessTable = { parent: () => 7, check: () => {}, parentOfShell: () => undefined };

function failing(code: string): () => never {
  return () => {
    throw Object.assign(new Error(code), { code });
  };
}

/** Watches, and returns how many times SIGTERM was emitted after `change` of the processes. */
function signalsAfter(first: ProcessTable, change: Partial<ProcessTable>): number {
  const table = { ...first };
  const stop = vi.fn<() => void>();
  process.on("SIGTERM", stop);
  onTestFinished(() => void process.off("SIGTERM", stop));
  stopWithNpm({
    parent: () => table.parent(),
    check: (pid) => table.check(pid),
    parentOfShell: (pid) => table.parentOfShell(pid),
  });
  vi.advanceTimersByTime(1000);
  expect(stop).not.toHaveBeenCalled();
  Object.assign(table, change);
  vi.advanceTimersByTime(1000);
  return stop.mock.calls.length;
}

describe("stopWithNpm", () => {
  beforeEach(() => {
    vi.useFakeTimers();
    vi.stubEnv("npm_lifecycle_event", "dev");
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllEnvs();
  });

  it.each<[string, number, Partial<ProcessTable>, Partial<ProcessTable>?]>([
    ["the shell has ended on Windows", 1, { check: failing("ESRCH") }],
    ["the shell has ended elsewhere", 1, { parent: () => 1 }],
    ["npm has ended", 1, { parentOfShell: () => "1" }, { parentOfShell: () => "6" }],
    ["nothing has changed", 0, {}],
    ["the shell is another user's", 0, { check: failing("EPERM") }],
    [
      "the shell cannot be read now",
      0,
      { parentOfShell: () => undefined },
      { parentOfShell: () => "6" },
    ],
    ["the shell can be read only now", 0, { parentOfShell: () => "6" }],
  ])("when %s emits SIGTERM %i times", (_what, times, change, before = {}) => {
    expect(signalsAfter({ ...running, ...before }, change)).toBe(times);
  });

  it("does nothing in a process that npm did not start", () => {
    vi.stubEnv("npm_lifecycle_event", undefined);
    expect(signalsAfter(running, { parent: () => 1 })).toBe(0);
  });
});
