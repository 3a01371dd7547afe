import { describe, expect, it, onTestFinished } from "vitest";
import { type Collection, defineCollection, openStore, type Store } from "../src/index.ts";
import { openInMemory } from "./open-for-test.ts";
import { type Cluster, startCluster } from "./postgres-cluster.ts";
import { kill, NO_POSTGRES, runSql } from "./postgres-server.ts";

const notes = defineCollection<{ text: string }>("notes");
const LONG = 3_600_000;

describe("Staleness", () => {
  it.each([-1, Number.NaN, "1", null])("refuses %j", async (staleness) => {
    const collection = (await openInMemory()).collection(notes);
    const query = Object({ staleness });
    await expect(collection.find(query)).rejects.toMatchObject({ code: "ERR_DOCUMENTS_QUERY" });
    await expect(collection.page(query)).rejects.toMatchObject({ code: "ERR_DOCUMENTS_QUERY" });
    await expect(collection.count(query)).rejects.toMatchObject({ code: "ERR_DOCUMENTS_QUERY" });
  });

  it("is none on an engine without replicas", async () => {
    const collection = (await openInMemory()).collection(notes);
    const { id } = await collection.insert({ text: "a" });
    expect(await collection.get(id, { staleness: LONG })).toMatchObject({ text: "a" });
    expect(await collection.count({ staleness: LONG })).toBe(1);
  });

  it.each(["postgres://h/d", [1], ["nowhere"], ["postgres://a,b/d"], [null]])(
    "needs URLs of one host each: %j",
    async (replicas) => {
      await expect(
        openStore("postgres://h/d", { postgres: Object({ replicas }) }),
      ).rejects.toMatchObject({ code: "ERR_DOCUMENTS_OPTIONS" });
    },
  );
});

describe.skipIf(NO_POSTGRES !== undefined)("A replica", () => {
  it("answers what may be as old as it is, and nothing else", { timeout: 60_000 }, async () => {
    const { cluster, store } = await open();
    const collection = store.collection(notes);
    const first = await collection.insert({ text: "before" });
    await used(cluster, collection, first.id);
    await runSql(cluster.standby.url("postgres"), "SELECT pg_wal_replay_pause()");
    const { id } = await collection.insert({ text: "after" });
    expect(await collection.get(id, { staleness: LONG })).toBeUndefined();
    expect(await collection.get(first.id, { staleness: LONG })).toMatchObject({ text: "before" });
    expect(await collection.getMany([id], { staleness: LONG })).toEqual([undefined]);
    expect(await collection.find({ staleness: LONG })).toHaveLength(1);
    expect((await collection.page({ staleness: LONG, total: "exact" })).total?.count).toBe(1);
    expect(await collection.count({ staleness: LONG })).toBe(1);

    expect(await collection.get(id)).toMatchObject({ text: "after" });
    expect(await collection.get(id, { staleness: 0 })).toMatchObject({ text: "after" });
    expect(await collection.get(id, { staleness: 1 })).toMatchObject({ text: "after" });
    expect(await collection.count({ staleness: 1 })).toBe(2);
    await store.transaction(async (tx) => {
      expect(await tx.collection(notes).get(id, { staleness: LONG })).toBeDefined();
    });

    await runSql(cluster.standby.url("postgres"), "SELECT pg_wal_replay_resume()");
    await expect.poll(() => collection.count({ staleness: LONG })).toBe(2);
  });

  it("answers what may be of any age", { timeout: 60_000 }, async () => {
    const { cluster, store } = await open();
    const { id } = await store.collection(notes).insert({ text: "a" });
    await used(cluster, store.collection(notes), id, Infinity);
  });

  it("is not missed when it is gone", { timeout: 60_000 }, async () => {
    const { cluster, store } = await open();
    const collection = store.collection(notes);
    const { id } = await collection.insert({ text: "kept" });
    await used(cluster, collection, id);
    await runSql(cluster.primary.url("postgres"), "ALTER SYSTEM RESET synchronous_standby_names");
    await runSql(cluster.primary.url("postgres"), "SELECT pg_reload_conf()");
    await kill(cluster.standby.process);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => collection.get(id, { staleness: LONG })),
    );
    for (const answer of answers) expect(answer).toMatchObject({ text: "kept" });
    await collection.insert({ text: "more" });
    expect(await collection.count({ staleness: LONG })).toBe(2);
  });
});

async function open(): Promise<{ readonly cluster: Cluster; readonly store: Store }> {
  const cluster = await startCluster();
  const url = (port: number): string => `postgres://postgres@127.0.0.1:${port}/postgres`;
  const store = await openStore(url(cluster.ports[0]), {
    collections: [notes],
    postgres: { replicas: [url(cluster.ports[1])] },
  });
  onTestFinished(() => store.close());
  return { cluster, store };
}

/** Waits until the replica is known to be fresh, before which the primary answers. */
async function used(
  cluster: Cluster,
  collection: Collection<{ text: string }>,
  id: string,
  staleness: number = LONG,
): Promise<void> {
  const answered =
    "SELECT 1 AS one FROM pg_stat_activity WHERE application_name = 'fetchwork' " +
    "AND query LIKE '%FROM \"notes\"%' LIMIT 1";
  await expect
    .poll(
      async () => {
        await collection.get(id, { staleness });
        return runSql(cluster.standby.url("postgres"), answered);
      },
      { timeout: 20_000 },
    )
    .toEqual([{ one: 1 }]);
}
