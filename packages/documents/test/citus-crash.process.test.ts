import { setTimeout as wait } from "node:timers/promises";
import { Client } from "pg";
import { describe, expect, it } from "vitest";
import { administer, defineCollection, openStore, type Store } from "../src/index.ts";
import { type CitusCluster, findCitus, startCitus } from "./citus-cluster.ts";
import { citusUrl } from "./citus-server.ts";
import { runSql } from "./postgres-server.ts";

const seats = defineCollection<{ n: number }>("seats", { unique: ["n"], changes: "ids" });

const visits = defineCollection<{ n: number }>("visits", { changes: "ids" });

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

  it(
    "stores no document without its record in the feed when the coordinator crashes",
    { timeout: 120_000 },
    async () => {
      const cluster = await startCitus(citusBin ?? "");
      try {
        await crashCoordinatorUnderLoad(cluster.url);
      } finally {
        await cluster.stop();
      }
    },
  );
});

/**
 * Kills processes of the coordinator while they commit; each time the coordinator recovers as from
 * a crash.
 */
async function crashCoordinatorUnderLoad(url: string): Promise<void> {
  const options = { collections: [visits], postgres: { distributed: true } };
  const store = await openStore(url, options);
  const collection = store.collection(visits);
  let isOver = false;
  const write = async (): Promise<void> => {
    for (let n = 0; !isOver; n += 1) {
      await collection.insert({ n }).catch(() => wait(10));
    }
  };
  const writing = Array.from({ length: 8 }, write);
  for (let crashes = 0; crashes < 12;) {
    await wait(500);
    const pid = await findCommitting(url).catch(() => undefined);
    if (pid === undefined) continue;
    process.kill(pid, "SIGKILL");
    crashes += 1;
  }
  isOver = true;
  await Promise.all(writing);
  // A read waits until the coordinator is back.
  await collection.count();
  await endPrepared(url);
  expect(await readDifference(store)).toEqual([]);
  await store.close();
}

/** Ends what was prepared when a server crashed, as Citus does by itself once a minute. */
async function endPrepared(url: string): Promise<void> {
  await runSql(url, "SELECT recover_prepared_transactions()");
}

/** Returns the process of a server that commits at the moment, if there is one. */
async function findCommitting(url: string): Promise<number | undefined> {
  const client = new Client({ connectionString: url });
  client.on("error", () => undefined);
  try {
    await client.connect();
    const text = "SELECT pid FROM pg_stat_activity WHERE query = 'COMMIT' AND state = 'active'";
    const { rows } = await client.query<number[]>({ text, rowMode: "array" });
    return rows[0]?.[0];
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Returns the ids that only the feed has, or only the collection. */
async function readDifference(store: Store): Promise<readonly string[]> {
  const recorded = new Set<string>();
  for await (const { id } of store.changes({ atEnd: "end" })) recorded.add(id);
  const stored = new Set(
    (await store.collection(visits).find({ fields: ["id"] })).map(({ id }) => id),
  );
  return [
    ...[...recorded].filter((id) => !stored.has(id)),
    ...[...stored].filter((id) => !recorded.has(id)),
  ];
}

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
  await endPrepared(cluster.url);
  const ids = new Set((await collection.find({ fields: ["id"] })).map(({ id }) => id));
  expect([...acknowledged].filter((id) => !ids.has(id))).toEqual([]);
  expect(await administer(store).check()).toEqual({ ok: true, problems: [] });
  await store.close();
}
