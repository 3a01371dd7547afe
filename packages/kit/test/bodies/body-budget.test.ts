import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  BodyBudget,
  BodyBudgetError,
  BodyTooLargeError,
  isExposedError,
  readBody,
} from "../../src/index.ts";

describe("BodyBudget", () => {
  it("BodyBudget never counts more than its maximum, and nothing after all shares are closed", () => {
    const step = fc.record({
      body: fc.nat(4),
      size: fc.nat(120),
      next: fc.constantFrom("go on", "settle", "close"),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const budget = new BodyBudget(200);
        const bodies = Array.from({ length: 5 }, () => budget.open());
        const refused = new Set<number>();
        for (const [index, body] of bodies.entries()) body.start(() => refused.add(index));
        const sum = (): number => bodies.reduce((total, { size }) => total + size, 0);
        for (const { body: index, size, next } of steps) {
          const body = bodies[index];
          if (body === undefined || refused.has(index)) continue;
          try {
            body.grow(body.size + size);
          } catch {
            refused.add(index);
          }
          if (next === "settle") body.settle();
          if (next === "close") body.close();
          expect(budget.size).toBe(sum());
          expect(budget.size).toBeLessThanOrEqual(200);
        }
        for (const body of bodies) body.close();
        for (const body of bodies) body.grow(50);
        expect(budget.size).toBe(0);
        expect(() => budget.open().grow(200)).not.toThrow();
      }),
    );
  });

  it("BodyBudget refuses the largest arriving body, or else the one that grows", () => {
    const budget = new BodyBudget(100);
    const [settled, large, small] = [budget.open(), budget.open(), budget.open()];
    const refused: string[] = [];
    settled.start(() => refused.push("settled"));
    large.start(({ code }) => refused.push(code));
    settled.grow(60);
    settled.settle();
    large.grow(30);
    small.grow(20);
    expect([refused, settled.size, large.size, small.size]).toEqual([
      ["ERR_KIT_BODY_BUDGET"],
      60,
      0,
      20,
    ]);
    expect(() => small.grow(50)).toThrow(BodyBudgetError);
    expect(small.size).toBe(0);
  });

  it("BodyBudget refuses a body that alone is larger than the maximum as too large", () => {
    const budget = new BodyBudget(100);
    expect(() => budget.open().grow(101)).toThrow(new BodyTooLargeError(100));
    expect(budget.size).toBe(0);
  });

  it("BodyBudgetError asks for a 503 with Retry-After", () => {
    const error = new BodyBudgetError();
    expect(isExposedError(error)).toBe(true);
    expect(error).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
  });
});

describe("readBody() with a share", () => {
  it.each(["option", "stream"])(
    "readBody() counts in the share of its %s until that is closed",
    async (where) => {
      const budget = new BodyBudget(100);
      const share = budget.open();
      const body = streamOf(10, 20);
      if (where === "stream") share.attachTo(body);
      await readBody(body, where === "stream" ? { limit: 100 } : { limit: 100, share });
      expect(budget.size).toBe(30);
      share.close();
      expect(budget.size).toBe(0);
    },
  );

  it("readBody() that waits is refused in favour of a smaller body, and cancels its stream", async () => {
    const budget = new BodyBudget(100);
    const cancelled = Promise.withResolvers<unknown>();
    const arrived = Promise.withResolvers<void>();
    let pulls = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          pulls += 1;
          if (pulls === 1) controller.enqueue(new Uint8Array(80));
          else arrived.resolve();
          return pulls === 1 ? undefined : new Promise(() => undefined);
        },
        cancel: cancelled.resolve,
      },
      { highWaterMark: 0 },
    );
    const reading = readBody(body, { limit: 100, share: budget.open() });
    await arrived.promise;
    budget.open().grow(30);
    await expect(reading).rejects.toThrow(BodyBudgetError);
    expect(await cancelled.promise).toBeInstanceOf(BodyBudgetError);
    expect(budget.size).toBe(30);
  });

  it.each([
    ["is too large", () => streamOf(10, 91), {}],
    ["fails", () => failingStream(), {}],
    ["is aborted", () => streamOf(10), { signal: AbortSignal.abort() }],
  ])("readBody() releases its share when the body %s", async (_what, open, options) => {
    const budget = new BodyBudget(1000);
    const share = budget.open();
    await expect(readBody(open(), { limit: 100, share, ...options })).rejects.toThrow();
    expect(budget.size).toBe(0);
  });
});

function streamOf(...sizes: readonly number[]): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      for (const size of sizes) controller.enqueue(new Uint8Array(size));
      controller.close();
    },
  });
}

function failingStream(): ReadableStream<Uint8Array> {
  let isStarted = false;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (isStarted) controller.error(new Error("lost"));
      else controller.enqueue(new Uint8Array(10));
      isStarted = true;
    },
  });
}
