import { text, wrap, type Handler } from "@fetchwork/http";
import { serve } from "@fetchwork/http/serve";
import { describe, expect, it } from "vitest";
import { Benchmarks, benchmarks } from "../../src/observe/benchmarks.ts";

/** A clock that stands until it is moved. */
function makeClock(): { now: () => number; move: (milliseconds: number) => void } {
  let time = Date.UTC(2026, 0, 1);
  return { now: () => time, move: (milliseconds) => void (time += milliseconds) };
}

const second = 1000;
const minute = 60_000;
const hour = 3_600_000;
const none = {
  requests: 0,
  requests_sec: 0,
  average_resp_time: 0,
  min_resp_time: 0,
  max_resp_time: 0,
};

/** Counts `amount` requests of one duration, one per second. */
function fill(target: Benchmarks, clock: ReturnType<typeof makeClock>, amount: number): void {
  for (let index = 0; index < amount; index += 1) {
    if (index > 0) clock.move(second);
    target.update(50);
  }
}

describe("Benchmarks", () => {
  it.each<[string, object]>([
    ["a range below a second", { timeRange: 999 }],
    ["a range above a day", { timeRange: 86_400_001 }],
    ["a range that is not a number", { timeRange: "1m" }],
    ["a clock that is not a function", { now: 1 }],
  ])("refuses %s", (_, options) => {
    expect(() => new Benchmarks(options)).toThrow(
      expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }),
    );
    expect(() => benchmarks(options)).toThrow();
  });

  // The rows of research A16, in their order.
  it("sums up one second", () => {
    const clock = makeClock();
    const target = new Benchmarks({ now: clock.now });
    for (const duration of [50, 150, 250, 100]) target.update(duration);
    for (const window of [minute, 5 * second]) {
      expect(target.stats(window)).toEqual({
        requests: 4,
        requests_sec: 4,
        average_resp_time: 137_500,
        min_resp_time: 50_000,
        max_resp_time: 250_000,
      });
    }
  });

  it("divides by the seconds from the first to the last", () => {
    const clock = makeClock();
    const target = new Benchmarks({ now: clock.now });
    for (const duration of [50, 150, 250]) target.update(duration);
    clock.move(second);
    target.update(100);
    expect(target.stats(minute)).toMatchObject({ requests: 4, requests_sec: 2 });
  });

  it("keeps 900 points", () => {
    const clock = makeClock();
    const target = new Benchmarks({ now: clock.now });
    fill(target, clock, 1000);
    expect(target.stats(hour)).toMatchObject({ requests: 900, requests_sec: 1 });
    expect(target.stats(15 * minute)).toMatchObject({ requests: 900, requests_sec: 1 });
    expect(target.stats(minute)).toMatchObject({ requests: 60, requests_sec: 1 });
  });

  it.each([
    [minute, { requests: 1, requests_sec: 1, average_resp_time: 1_000_000 }],
    [
      2 * hour,
      {
        requests: 5,
        requests_sec: 0.0013885031935573452,
        average_resp_time: 310_000,
        min_resp_time: 50_000,
        max_resp_time: 1_000_000,
      },
    ],
  ])("drops what is older than its range of %s ms", (timeRange, stats) => {
    const clock = makeClock();
    const target = new Benchmarks({ timeRange, now: clock.now });
    for (const duration of [50, 150, 250, 100]) target.update(duration);
    clock.move(hour);
    target.update(1000);
    expect(target.stats(hour)).toMatchObject(stats);
  });

  it("counts nothing older than its range, also when no request came since", () => {
    const clock = makeClock();
    const target = new Benchmarks({ now: clock.now });
    target.update(50);
    clock.move(hour);
    expect(target.stats(hour)).toEqual(none);
  });

  it.each([
    [30 * second, 30],
    [minute, 60],
    [90 * second, 90],
    [2 * minute, 120],
  ])("counts a window of %s ms as %s points", (window, requests) => {
    const clock = makeClock();
    const target = new Benchmarks({ now: clock.now });
    fill(target, clock, 120);
    expect(target.stats(window).requests).toBe(requests);
  });

  it("counts many in some seconds", () => {
    const clock = makeClock();
    const target = new Benchmarks({ now: clock.now });
    for (let index = 0; index < 100; index += 1) {
      clock.move(50);
      target.update(50);
    }
    expect(target.stats(minute)).toEqual({
      requests: 100,
      requests_sec: 100 / 6,
      average_resp_time: 50_000,
      min_resp_time: 50_000,
      max_resp_time: 50_000,
    });
  });

  it("keeps the extremes", () => {
    const clock = makeClock();
    const target = new Benchmarks({ now: clock.now });
    for (const [amount, duration] of [
      [10, 10],
      [5, 100],
      [2, 2000],
    ] as const) {
      for (let index = 0; index < amount; index += 1)
        target.update(duration / (duration === 2000 ? 2 : 1));
      clock.move(second);
    }
    expect(target.stats(minute)).toMatchObject({
      requests: 17,
      min_resp_time: 10_000,
      max_resp_time: 1_000_000,
    });
  });

  it.each([
    [45 * second, 100, 45],
    [minute, 120, 60],
    [5 * minute, 400, 300],
  ])("with a range of %s ms keeps of %s points %s", (timeRange, amount, kept) => {
    const clock = makeClock();
    const target = new Benchmarks({ timeRange, now: clock.now });
    fill(target, clock, amount);
    expect(target.stats(hour).requests).toBe(kept);
  });

  it.each([999, 0, -5, Number.NaN])("has nothing for a window of %s ms", (window) => {
    const target = new Benchmarks();
    target.update(1);
    expect(target.stats(window)).toEqual(none);
  });

  it("has nothing before the first request, and counts a duration of zero", () => {
    const target = new Benchmarks();
    expect(target.stats(minute)).toEqual(none);
    target.update(5);
    target.update(0);
    expect(target.stats(minute)).toMatchObject({ min_resp_time: 0, max_resp_time: 5000 });
  });
});

describe("benchmarks", () => {
  it("counts requests until their last byte, also those that fail", async () => {
    const clock = makeClock();
    const counted = benchmarks({ now: clock.now });
    const handler: Handler = ({ url }) => {
      clock.move(30);
      if (url.endsWith("/throws")) throw new Error("broken");
      return text("x");
    };
    const options = {
      port: 0,
      hostname: "127.0.0.1",
      signals: false,
      gracePeriod: 0,
      reportError: () => undefined,
    };
    await using server = await serve(wrap(handler, counted), options);
    await (await fetch(server.url)).text();
    await (await fetch(`${server.url}throws`)).text();
    await expect
      .poll(() => counted.stats(minute))
      .toMatchObject({ requests: 2, average_resp_time: 30_000 });
  });
});
