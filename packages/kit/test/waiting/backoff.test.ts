import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { backoffDelay, requestedDelay } from "../../src/waiting/backoff.ts";

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

describe("requestedDelay", () => {
  const now = Date.UTC(2026, 10, 21, 7, 0, 0);

  it.each([
    [{ "retry-after": "5" }, 5000],
    [{ "retry-after": "Sat, 21 Nov 2026 07:00:10 GMT" }, 10_000],
    [{ "retry-after": "5", "ratelimit-reset": "9" }, 5000],
    [{ "retry-after": "soon", "ratelimit-reset": "9" }, 9000],
    [{ "ratelimit-reset": "0" }, 0],
    [{ "x-ratelimit-reset": "1.5" }, 1500],
    [{ "x-ratelimit-reset": String(now / 1000 + 30) }, 30_000],
    [{ "x-ratelimit-reset": String(now / 1000 - 30) }, 0],
    [{ "x-rate-limit-reset": "Sat, 21 Nov 2026 07:00:10 GMT" }, 10_000],
    [{ "x-ratelimit-retry-after": "2" }, 2000],
    [{}, undefined],
    [{ "retry-after": "", "x-ratelimit-reset": "-1" }, undefined],
    [{ "x-ratelimit-reset": "1e9" }, undefined],
  ])("reads %j as %s ms", (fields, delay) => {
    const headers = new Headers(fields);
    expect(requestedDelay(headers, now)).toBe(delay);
  });

  it("returns a finite delay of at least 0, or undefined, for any text", () => {
    const field = fc.oneof(fc.string(), fc.stringMatching(/^[\d.]{0,14}$/));
    fc.assert(
      fc.property(field, (text) => {
        const delay = requestedDelay({ get: () => text }, now) ?? 0;
        expect(delay).toBeGreaterThanOrEqual(0);
        expect(Number.isFinite(delay)).toBe(true);
      }),
    );
  });
});
