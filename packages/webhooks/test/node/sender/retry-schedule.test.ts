import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { retrySchedule } from "../../../src/node/sender/deliveries/retry-schedule.ts";

describe("retrySchedule", () => {
  it.each([
    { firstDelay: -1 },
    { firstDelay: Number.NaN },
    { factor: 0.5 },
    { jitter: 2 },
    { giveUpAfter: Infinity },
    { maxDelay: -5 },
    { giveUpAfter: 1e15 },
  ])("retrySchedule() refuses %j", (options) => {
    expect(() => retrySchedule(options)).toThrow(
      expect.objectContaining({ code: "ERR_WEBHOOKS_OPTION" }),
    );
  });

  it("delayAfter() grows with each attempt up to the maximum", () => {
    const { delayAfter } = retrySchedule({ jitter: 0 });
    const delays = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 200].map((n) => delayAfter(n) / 1000);
    expect(delays).toEqual([5, 15, 45, 135, 405, 1215, 3645, 10_935, 32_805, 43_200, 43_200]);
  });

  it("delayAfter() stays within the jitter", () => {
    const { delayAfter } = retrySchedule({
      jitter: 0.5,
      firstDelay: 1000,
      factor: 2,
      maxDelay: 60_000,
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), (attempts) => {
        const planned = Math.min(60_000, 1000 * 2 ** (attempts - 1));
        const delay = delayAfter(attempts);
        expect(delay).toBeGreaterThanOrEqual(planned * 0.5);
        expect(delay).toBeLessThanOrEqual(planned * 1.5);
      }),
    );
  });

  it("delayAfter() stays finite after any number of attempts", () => {
    const { delayAfter } = retrySchedule({ firstDelay: 0, factor: 100, jitter: 1 });
    expect(delayAfter(1_000_000)).toBe(0);
  });
});
