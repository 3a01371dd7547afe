import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseRetryAfter } from "../../src/waiting/retry-after.ts";

const now = Date.UTC(2026, 10, 21, 7, 0, 0);

describe("parseRetryAfter", () => {
  it.each([
    ["0", 0],
    ["120", 120_000],
    [" 5 ", 5000],
    ["Sat, 21 Nov 2026 07:00:10 GMT", 10_000],
    ["Sat, 21 Nov 2026 06:00:00 GMT", 0],
    ["Saturday, 21-Nov-26 07:00:10 GMT", 10_000],
    ["Sunday, 06-Nov-94 08:49:37 GMT", 0],
    ["Sat Nov 21 07:00:10 2026", 10_000],
    ["Sun Nov  6 08:49:37 1994", 0],
  ])("reads %j as %i ms", (field, expected) => {
    expect(parseRetryAfter(field, now)).toBe(expected);
  });

  it.each([
    "",
    "-1",
    "1.5",
    "1e3",
    "0x10",
    "12345678901",
    "soon",
    "2026-11-21T07:00:10Z",
    "Sat, 21 Nov 2026 07:00:10 +0100",
    "Sat, 31 Feb 2026 07:00:10 GMT",
    "Sat, 21 Xyz 2026 07:00:10 GMT",
    "Sat, 21 Nov 2026 25:00:10 GMT",
    "1, 2",
  ])("rejects %j", (field) => {
    expect(parseRetryAfter(field, now)).toBeUndefined();
  });

  it("reads every date in the format of HTTP", () => {
    const second = fc.integer({ min: 0, max: 4_102_444_800 });
    fc.assert(
      fc.property(second, (at) => {
        const expected = Math.max(0, at * 1000 - now);
        expect(parseRetryAfter(new Date(at * 1000).toUTCString(), now)).toBe(expected);
      }),
    );
  });

  it("returns a delay of at least 0, or undefined, for any text", () => {
    fc.assert(
      fc.property(fc.string(), (field) => {
        expect(parseRetryAfter(field, now) ?? 0).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});
