import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { pause } from "../../src/waiting/pause.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe("pause", () => {
  it("resolves after the delay", async () => {
    const paused = pause(1000);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(1000);
    await expect(paused).resolves.toBeUndefined();
  });

  it("rejects with the reason of the signal and leaves no timer behind", async () => {
    const controller = new AbortController();
    const paused = pause(1000, controller.signal);
    controller.abort("gone");
    await expect(paused).rejects.toBe("gone");
    expect(vi.getTimerCount()).toBe(0);
    await expect(pause(1000, controller.signal)).rejects.toBe("gone");
    expect(vi.getTimerCount()).toBe(0);
  });
});
