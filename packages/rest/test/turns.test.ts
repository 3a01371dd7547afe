import { describe, expect, it } from "vitest";
import { createTurns } from "../src/turns.ts";

describe("createTurns", () => {
  it("lets as many go on as it may, and the next when one leaves, in their order", async () => {
    const turns = createTurns({ atOnce: 2, waiting: 10 });
    const entered: number[] = [];
    const all = [1, 2, 3, 4].map(async (one) => {
      await turns.enter("a");
      entered.push(one);
    });
    await Promise.all(all.slice(0, 2));
    expect(entered).toEqual([1, 2]);
    turns.leave("a");
    await all[2];
    expect(entered).toEqual([1, 2, 3]);
    turns.leave("a");
    await all[3];
    expect(entered).toEqual([1, 2, 3, 4]);
  });

  it("counts each key for itself", async () => {
    const turns = createTurns({ atOnce: 1, waiting: 0 });
    await turns.enter("a");
    await turns.enter("b");
    await expect(turns.enter("a")).rejects.toMatchObject({ status: 503 });
    turns.leave("b");
    await turns.enter("b");
  });

  it("refuses with 503 when too many wait, and takes more when they have gone", async () => {
    const turns = createTurns({ atOnce: 1, waiting: 1 });
    await turns.enter("a");
    const second = turns.enter("a");
    await expect(turns.enter("a")).rejects.toMatchObject({
      status: 503,
      headers: { "retry-after": "5" },
    });
    turns.leave("a");
    await second;
    turns.leave("a");
    await turns.enter("a");
  });
});
