import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { administer, defineCollection, openStore } from "../src/index.ts";
import { type CitusCluster, findCitus, startCitus } from "./citus-cluster.ts";
import { citusUrl } from "./citus-server.ts";

const seats = defineCollection<{ n: number }>("seats", { unique: ["n"], changes: "ids" });

/** A worker of the cluster that the variable names cannot be killed through its URL. */
const citusBin = citusUrl === undefined ? undefined : findCitus();
const reason =
  citusUrl === undefined ? "FETCHWORK_TEST_CITUS is not set" : "Citus is not installed here";

describe.skipIf(citusBin === undefined)(`A cluster of Citus (left out when ${reason})`, () => {
  it(
    "loses nothing that was acknowledged when a worker crashes, and says that it is away",
    { timeout: 120_000 },
    async () => {
      const cluster = await startCitus(citusBin ?? "");
      try {
        await crashUnderLoad(cluster);
      } finally {
        await cluster.stop();
      }
    },
  );
});

async function crashUnderLoad(cluster: CitusCluster): Promise<void> {
  const options = { collections: [seats], postgres: { distributed: true } };
  const store = await openStore(cluster.url, options);
  const collection = store.collection(seats);
  const acknowledged = new Set<string>();
  const codes = new Set<unknown>();
  let next = 0;
  let isOver = false;
  const write = async (): Promise<void> => {
    while (!isOver) {
      next += 1;
      try {
        acknowledged.add((await collection.insert({ n: next })).id);
      } catch (error) {
        codes.add(Reflect.get(Object(error), "code"));
        await wait(10);
      }
    }
  };
  const writing = Array.from({ length: 8 }, write);
  await expect.poll(() => acknowledged.size, { timeout: 20_000 }).toBeGreaterThan(100);
  const restart = await cluster.crashWorker();
  await expect.poll(() => codes.size, { timeout: 20_000 }).toBeGreaterThan(0);
  await wait(1000);
  await restart();
  const before = acknowledged.size;
  await expect.poll(() => acknowledged.size, { timeout: 60_000 }).toBeGreaterThan(before + 100);
  isOver = true;
  await Promise.all(writing);
  expect([...codes]).toEqual(["ERR_DOCUMENTS_CONNECTION"]);
  const ids = new Set((await collection.find({ fields: ["id"] })).map(({ id }) => id));
  expect([...acknowledged].filter((id) => !ids.has(id))).toEqual([]);
  expect(await administer(store).check()).toEqual({ ok: true, problems: [] });
  await store.close();
}
