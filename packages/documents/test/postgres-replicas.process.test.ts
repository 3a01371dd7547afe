import { describe, expect, it, onTestFinished } from "vitest";
import { type Collection, defineCollection, openStore, type Store } from "../src/index.ts";
import { type Cluster, freePort, startCluster } from "./postgres-cluster.ts";
import { kill, noPostgres, runSql, startPostgres } from "./postgres-server.ts";

const notes = defineCollection<{ text: string }>("notes");
const longTime = 3_600_000;
/** What is written to the disk matters to no test here. */
const fastOptions = ["fsync=off", "full_page_writes=off"];

describe.skipIf(noPostgres !== undefined)("A replica", () => {
  it("answers what may be as old as it is, and nothing else", { timeout: 60_000 }, async () => {
    const { cluster, store } = await open();
    const collection = store.collection(notes);
    const first = await collection.insert({ text: "before" });
    await used(cluster, collection, first.id, Infinity);
    await runSql(cluster.standby.url("postgres"), "SELECT pg_wal_replay_pause()");
    const { id } = await collection.insert({ text: "after" });
    expect(await collection.get(id, { staleness: longTime })).toBeUndefined();
    expect(await collection.get(first.id, { staleness: longTime })).toMatchObject({
      text: "before",
    });
    expect(await collection.getMany([id], { staleness: longTime })).toEqual([undefined]);
    expect(await collection.find({ staleness: longTime })).toHaveLength(1);
    expect((await collection.page({ staleness: longTime, total: "exact" })).total?.count).toBe(1);
    expect(await collection.count({ staleness: longTime })).toBe(1);

    expect(await collection.get(id)).toMatchObject({ text: "after" });
    expect(await collection.get(id, { staleness: 0 })).toMatchObject({ text: "after" });
    expect(await collection.get(id, { staleness: 1 })).toMatchObject({ text: "after" });
    expect(await collection.count({ staleness: 1 })).toBe(2);
    await store.transaction(async (tx) => {
      expect(await tx.collection(notes).get(id, { staleness: longTime })).toBeDefined();
    });

    await runSql(cluster.standby.url("postgres"), "SELECT pg_wal_replay_resume()");
    await expect.poll(() => collection.count({ staleness: longTime })).toBe(2);
  });

  it("is not asked when it follows another server", { timeout: 60_000 }, async () => {
    const cluster = await startCluster(fastOptions);
    const url = (port: number): string => `postgres://postgres@127.0.0.1:${port}/postgres`;
    const followed = await openStore(url(cluster.ports[0]), { collections: [notes] });
    await followed.close();
    // As after a failover to a server that had less of the log than the replica.
    const primary = cluster.primary.url("postgres");
    for (let segment = 0; segment < 4; segment += 1) {
      await runSql(primary, "SELECT pg_logical_emit_message(true, '', ''), pg_switch_wal()");
    }
    const port = await freePort();
    const other = await startPostgres([
      "listen_addresses=127.0.0.1",
      `port=${port}`,
      ...fastOptions,
    ]);
    onTestFinished(() => other.stop());
    const store = await openStore(url(port), {
      collections: [notes],
      postgres: { replicas: [url(cluster.ports[1])] },
    });
    onTestFinished(() => store.close());
    const collection = store.collection(notes);
    const { id } = await collection.insert({ text: "here" });
    const asked =
      "SELECT 1 AS one FROM pg_stat_activity WHERE application_name = 'fetchwork' " +
      "AND query LIKE '%pg_last_wal_replay_lsn%' AND state = 'idle' LIMIT 1";
    const here = async (): Promise<void> => {
      expect(await collection.get(id, { staleness: longTime })).toMatchObject({ text: "here" });
    };
    await expect
      .poll(async () => {
        await here();
        return runSql(cluster.standby.url("postgres"), asked);
      })
      .toEqual([{ one: 1 }]);
    for (let read = 0; read < 100; read += 1) await here();
    // The primary comes by the place of the replica, which still has nothing of it.
    for (let segment = 0; segment < 8; segment += 1) {
      await runSql(
        other.url("postgres"),
        "SELECT pg_logical_emit_message(true, '', ''), pg_switch_wal()",
      );
    }
    const until = performance.now() + 1500;
    while (performance.now() < until) await here();
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
      Array.from({ length: 20 }, () => collection.get(id, { staleness: longTime })),
    );
    for (const answer of answers) expect(answer).toMatchObject({ text: "kept" });
    await collection.insert({ text: "more" });
    expect(await collection.count({ staleness: longTime })).toBe(2);
  });
});

async function open(): Promise<{ readonly cluster: Cluster; readonly store: Store }> {
  const cluster = await startCluster(fastOptions);
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
  staleness: number = longTime,
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
