import { afterEach, describe, expect, it, vi } from "vitest";
import { backoffDelay } from "../../src/waiting/backoff.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

describe("backoffDelay", () => {
  it.each([
    [1, {}, 0.5, 50],
    [2, {}, 0.5, 100],
    [3, {}, 1, 400],
    [9, {}, 1, 1000],
    [5000, {}, 1, 1000],
    [2, { factor: 3 }, 1, 300],
    [2, { jitter: [1, 1] }, 0.3, 200],
    [2, { jitter: [1, 1.5] }, 0.5, 250],
    [2, { jitter: [0.8, 1.2] }, 0, 160],
    [5000, { baseDelay: 0 }, 1, 0],
  ] as const)(
    "computes the delay after %i failures with %o",
    (failures, options, random, delay) => {
      vi.spyOn(Math, "random").mockReturnValue(random);
      expect(backoffDelay(failures, { baseDelay: 100, maxDelay: 1000, ...options })).toBe(delay);
    },
  );
});
