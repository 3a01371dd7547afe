import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Budget } from "../src/calls/budget.ts";

const { signal } = new AbortController();
const request = (text: string, model = "m") =>
  ({ model, messages: [{ role: "user", content: text }] }) as const;

describe("Budget", () => {
  it.each([
    [{ maxTokens: 0 }, /maxTokens must be .*, got 0/],
    [{ maxTokens: 1.5 }, /maxTokens must be .*, got 1.5/],
    [{ maxCost: -1 }, /maxCost must be .*, got -1/],
    [{ maxTime: 0 }, /maxTime must be .*, got 0/],
    [{ maxTime: 2 ** 31 }, /maxTime must be .*, got 2147483648/],
    [{ prices: { m: { input: -1, output: 0 } } }, /price of m/],
  ])("refuses %j", (options, message) => {
    expect(() => new Budget(options)).toThrow(message);
  });

  it("has no limit where none is set, and counts", async () => {
    const budget = new Budget({ prices: { m: { input: 1, output: 10 } } });
    const reservation = await budget.reserve(request("x"), signal);
    expect(reservation.maxOutputTokens).toBeUndefined();
    reservation.settle({ inputTokens: 1_000_000, outputTokens: 100_000 });
    reservation.settle({ inputTokens: 1, outputTokens: 1 });
    expect(budget.usage).toEqual({
      inputTokens: 1_000_000,
      outputTokens: 100_000,
      cost: 2,
      calls: 1,
    });
  });

  it("counts what a server had kept of earlier questions at its price", async () => {
    const count = { inputTokens: 1_000_000, cachedInputTokens: 900_000, outputTokens: 0 };
    const costs = [{ cachedInput: 0.1 }, {}].map(async (more) => {
      const budget = new Budget({ prices: { m: { input: 1, output: 10, ...more } } });
      return (await budget.reserve(request("x"), signal)).settle(count).cost;
    });
    const [cheap, full] = await Promise.all(costs);
    expect(cheap).toBeCloseTo(0.19);
    expect(full).toBe(1);
  });

  it("knows no cost of a model without a price, and refuses it where money is limited", async () => {
    const budget = new Budget({ maxCost: 1, prices: { other: { input: 1, output: 1 } } });
    await expect(budget.reserve(request("x"), signal)).rejects.toMatchObject({
      code: "ERR_AGENT_BUDGET",
    });
    const free = new Budget();
    (await free.reserve(request("x"), signal)).settle({ inputTokens: 1, outputTokens: 1 });
    expect(free.usage.cost).toBeNull();
  });

  it("counts a picture as what servers make of it, not by its bytes", async () => {
    const picture = { type: "file", mediaType: "image/png", data: "A".repeat(400_000) } as const;
    const turns = [{ role: "user", content: [picture] }] as const;
    const budget = new Budget({ maxTokens: 20_000, maxOutputTokens: 1_000 });
    const reservation = await budget.reserve({ ...request("x"), turns }, signal);
    expect(reservation.settle(undefined)).toMatchObject({ calls: 1 });
    await expect(budget.reserve({ ...request("x"), turns }, signal)).rejects.toMatchObject({
      code: "ERR_AGENT_BUDGET",
    });
  });

  it("charges the worst case of a call whose use nobody says", async () => {
    const budget = new Budget({ maxTokens: 1_700, maxOutputTokens: 1_500 });
    (await budget.reserve(request("x"), signal)).settle(undefined);
    await expect(budget.reserve(request("x"), signal)).rejects.toMatchObject({
      code: "ERR_AGENT_BUDGET",
    });
  });

  it("lets a call wait for what others give back, and goes on with what is left after a restart", async () => {
    const budget = new Budget({ maxTokens: 2_000, maxOutputTokens: 1_500 });
    budget.restore({ inputTokens: 100, outputTokens: 100, cost: null, calls: 1 });
    const first = await budget.reserve(request("x"), signal);
    let isThere = false;
    const second = budget.reserve(request("x"), signal).then((reservation) => {
      isThere = true;
      return reservation;
    });
    await Promise.resolve();
    expect(isThere).toBe(false);
    first.settle({ inputTokens: 5, outputTokens: 5 });
    expect((await second).maxOutputTokens).toBe(1_500);
  });

  it("ends a wait with the signal", async () => {
    const budget = new Budget({ maxTokens: 2_000, maxOutputTokens: 1_500 });
    await budget.reserve(request("x"), signal);
    const controller = new AbortController();
    const waiting = budget.reserve(request("x"), controller.signal);
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ code: "ERR_AGENT_CANCELLED" });
  });

  it("is never passed, however many calls at once take all that they may", async () => {
    const call = fc.record({ size: fc.integer({ min: 0, max: 300 }), silent: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.array(call, { maxLength: 20 }),
        fc.integer({ min: 500, max: 5_000 }),
        async (calls, maxTokens) => {
          const prices = { m: { input: 2, output: 8 } };
          const budget = new Budget({ maxTokens, maxCost: 0.02, prices, maxOutputTokens: 700 });
          let spent = 0;
          let cost = 0;
          await Promise.all(
            calls.map(async ({ size, silent }) => {
              const asked = request("é".repeat(size));
              const reservation = await budget.reserve(asked, signal).catch(() => undefined);
              if (reservation === undefined) return;
              await Promise.resolve();
              // A token for each byte, and the answer as long as it may be: nothing can be worse.
              const inputTokens = size * 2 + 16;
              const outputTokens = reservation.maxOutputTokens ?? Infinity;
              spent += inputTokens + outputTokens;
              cost += (inputTokens * 2 + outputTokens * 8) / 1e6;
              reservation.settle(silent ? undefined : { inputTokens, outputTokens });
            }),
          );
          expect(spent).toBeLessThanOrEqual(maxTokens);
          expect(cost).toBeLessThanOrEqual(0.02 + 1e-12);
        },
      ),
    );
  });
});
