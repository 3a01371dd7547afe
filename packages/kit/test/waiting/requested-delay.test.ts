import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { requestedDelay } from "../../src/waiting/requested-delay.ts";

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
    expect(requestedDelay({ status: 429, headers }, now)).toBe(delay);
  });

  it("returns a finite delay of at least 0, or undefined, for any text", () => {
    const field = fc.oneof(fc.string(), fc.stringMatching(/^[\d.]{0,14}$/));
    fc.assert(
      fc.property(field, (text) => {
        const delay = requestedDelay({ status: 429, headers: { get: () => text } }, now) ?? 0;
        expect(delay).toBeGreaterThanOrEqual(0);
        expect(Number.isFinite(delay)).toBe(true);
      }),
    );
  });

  it("ignores the fields of a rate limit unless the status is 413, 429 or 503", () => {
    const headers = new Headers({ "x-ratelimit-reset": "60" });
    expect([413, 429, 503].map((status) => requestedDelay({ status, headers }))).toEqual([
      60_000, 60_000, 60_000,
    ]);
    expect([200, 500, 502].map((status) => requestedDelay({ status, headers }))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});
