import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { defineCollection, VersionError } from "../../src/index.ts";
import { enginesOfFile } from "../open-for-test.ts";

const engines = enginesOfFile();

interface Counter {
  n: number;
}

const counters = defineCollection<Counter>("counters");

describe.each(engines)("The retries of a transaction of %s", (_name, openEmpty) => {
  it.each([-1, 0.5, Number.NaN, Infinity])("are refused as %d", async (retries) => {
    const store = await openEmpty();
    let runs = 0;
    const work = (): number => (runs += 1);
    await expect(store.transaction(work, { retries })).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_OPTIONS",
    });
    expect(runs).toBe(0);
  });

  it("are not used up on a version that was wrong from the start, nor on other errors", async () => {
    const store = await openEmpty({ collections: [counters] });
    const { id } = await store.collection(counters).insert({ n: 0 });
    let runs = 0;
    const stale = store.transaction(
      (tx) => {
        runs += 1;
        return tx.collection(counters).update(id, { n: 1 }, { ifVersion: 7 });
      },
      { retries: 5 },
    );
    await expect(stale).rejects.toThrow(VersionError);
    const fault = new Error("no");
    const failing = store.transaction(
      () => {
        runs += 1;
        throw fault;
      },
      { retries: 5 },
    );
    await expect(failing).rejects.toBe(fault);
    expect(runs).toBe(2);
    expect(await store.collection(counters).get(id)).toMatchObject({ n: 0, version: 1 });
  });

  it("lose no update of many clients that read, wait and write", async () => {
    const store = await openEmpty({ collections: [counters] });
    const { id } = await store.collection(counters).insert({ n: 0 });
    const addOne = (): Promise<unknown> =>
      store.transaction(
        async (tx) => {
          const stored = await tx.collection(counters).get(id);
          await new Promise(setImmediate);
          await tx.collection(counters).update(id, { n: (stored?.n ?? 0) + 1 });
        },
        { timeout: 60_000, retries: 1000 },
      );
    await Promise.all(Array.from({ length: 30 }, addOne));
    expect(await store.collection(counters).get(id)).toMatchObject({ n: 30, version: 31 });
  });

  it("follow a conflict that is found at the commit", async () => {
    const store = await openEmpty({ collections: [counters] });
    const ids = Array.from({ length: 16 }, (_, n) => `c${n}`);
    for (const id of ids) await store.collection(counters).insert({ n: 0 }, { id });
    // Each of the two reads what the other one changes, and both have read before one changes
    // anything.
    const change = (own: string, other: string): Promise<unknown> =>
      store.transaction(
        async (tx) => {
          const mine = await tx.collection(counters).get(own);
          await tx.collection(counters).get(other);
          await wait(20);
          await tx.collection(counters).update(own, { n: (mine?.n ?? 0) + 1 });
          await wait(20);
        },
        { timeout: 60_000, retries: 1000 },
      );
    const changes = ids.map((id, place) => change(id, ids[place ^ 1] ?? ""));
    await Promise.all(changes);
    const stored = await store.collection(counters).find();
    expect(stored.map(({ n, version }) => [n, version])).toEqual(ids.map(() => [1, 2]));
  });
});
