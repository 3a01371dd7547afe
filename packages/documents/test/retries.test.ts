import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { Client } from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  defineCollection,
  openStore,
  type Store,
  type StoreOptions,
  type Transaction,
} from "../src/index.ts";
import { newDatabase } from "./open-for-test.ts";
import { noPostgres, runSql } from "./postgres-server.ts";
import { temporaryFolder } from "./temporary-folder.ts";

interface Counter {
  n: number;
}

const counters = defineCollection<Counter>("counters");

describe.skipIf(noPostgres !== undefined)("Transactions of PostgreSQL that meet", () => {
  /** Runs a transaction that another client overtakes between its reading and its writing, once. */
  async function overtaken(
    retries: number | undefined,
  ): Promise<{ outcome: Promise<unknown>; seen: readonly unknown[]; result: () => unknown }> {
    const url = await newDatabase();
    const [first, second] = [await open(url), await open(url)];
    const { id } = await first.collection(counters).insert({ n: 0 });
    const seen: unknown[] = [];
    const outcome = first.transaction(
      async (tx) => {
        const stored = await tx.collection(counters).get(id);
        seen.push(stored?.n);
        if (seen.length === 1) await second.collection(counters).update(id, { n: 10 });
        await tx.collection(counters).update(id, { n: (stored?.n ?? 0) + 1 });
      },
      { retries },
    );
    return { outcome, seen, result: () => second.collection(counters).get(id) };
  }

  it("fail as busy without retries, and change nothing", async () => {
    const { outcome, seen, result } = await overtaken(0);
    await expect(outcome).rejects.toMatchObject({ code: "ERR_DOCUMENTS_BUSY" });
    expect(seen).toEqual([0]);
    expect(await result()).toMatchObject({ n: 10, version: 2 });
  });

  it.each([1, undefined])("run again from the start, with %d retries", async (retries) => {
    const { outcome, seen, result } = await overtaken(retries);
    await outcome;
    expect(seen).toEqual([0, 10]);
    expect(await result()).toMatchObject({ n: 11, version: 3 });
  });

  it("leave connections to others while they wait for each other", async () => {
    const url = await newDatabase();
    const store = await openStore(url, { collections: [counters], postgres: { poolSize: 2 } });
    onTestFinished(() => store.close());
    const other = await open(url);
    const locking = await connect(url);
    // The lock of transactions that have conflicted twice.
    await locking.query("SELECT pg_advisory_lock(1180128344)");
    const conflicted = Array.from({ length: 3 }, () => Promise.withResolvers<undefined>());
    const all = conflicted.map(async ({ resolve }, index) => {
      const id = String(index);
      await other.collection(counters).insert({ n: 0 }, { id });
      let attempts = 0;
      await store.transaction(
        async (tx) => {
          const { n = 0 } = (await tx.collection(counters).get(id)) ?? {};
          attempts += 1;
          if (attempts <= 2) await other.collection(counters).update(id, { n: n + 1 });
          if (attempts === 2) resolve(undefined);
          await tx.collection(counters).update(id, { n: n + 1 });
        },
        { timeout: 60_000 },
      );
    });
    await Promise.all(conflicted.map(({ promise }) => promise));
    await setTimeout(200);
    expect(await store.collection(counters).get("0")).toMatchObject({ n: 2 });
    await locking.query("SELECT pg_advisory_unlock(1180128344)");
    await Promise.all(all);
    const stored = await store.collection(counters).getMany(["0", "1", "2"]);
    expect(stored).toMatchObject([{ n: 3 }, { n: 3 }, { n: 3 }]);
  });

  it("end at their time, also while they wait behind others", async () => {
    const url = await newDatabase();
    const [store, other] = [await open(url), await open(url)];
    const collection = other.collection(counters);
    for (const id of ["x", "y"]) await collection.insert({ n: 0 }, { id });
    const third = Promise.withResolvers<undefined>();
    const release = Promise.withResolvers<undefined>();
    /** Conflicts twice, and then does something else. */
    const conflicting = (id: string, timeout: number, then: () => Promise<unknown>) => {
      let attempts = 0;
      return store.transaction(
        async (tx) => {
          const { n = 0 } = (await tx.collection(counters).get(id)) ?? {};
          attempts += 1;
          if (attempts <= 2) await collection.update(id, { n: n + 1 });
          else await then();
          await tx.collection(counters).update(id, { n: n + 1 });
        },
        { timeout },
      );
    };
    const first = conflicting("x", 60_000, async () => {
      third.resolve(undefined);
      await release.promise;
    });
    await third.promise;
    const second = conflicting("y", 300, () => Promise.resolve());
    await expect(second).rejects.toMatchObject({ code: "ERR_DOCUMENTS_TIMEOUT" });
    release.resolve(undefined);
    await first;
    await conflicting("y", 60_000, () => Promise.resolve());
    expect(await collection.getMany(["x", "y"])).toMatchObject([{ n: 3 }, { n: 5 }]);
  });

  it("make others of their process wait once four attempts conflicted", async () => {
    const url = await newDatabase();
    const [store, other] = [await open(url), await open(url)];
    const { id } = await other.collection(counters).insert({ n: 0 });
    const fifth = Promise.withResolvers<undefined>();
    const order: string[] = [];
    let attempts = 0;
    const first = store.transaction(async (tx) => {
      const { n = 0 } = (await tx.collection(counters).get(id)) ?? {};
      attempts += 1;
      if (attempts < 5) await other.collection(counters).update(id, { n: n + 1 });
      else fifth.resolve(undefined);
      if (attempts === 5) await setTimeout(50);
      await tx.collection(counters).update(id, { n: n + 1 });
      order.push("first");
    });
    await fifth.promise;
    const second = store.transaction(() => void order.push("second"));
    await Promise.all([first, second]);
    expect(order).toEqual(["first", "second"]);
    expect(await store.collection(counters).get(id)).toMatchObject({ n: 5 });
  });

  it("come out of a deadlock", async () => {
    const store = await open(await newDatabase());
    const collection = store.collection(counters);
    await collection.insert({ n: 0 }, { id: "x" });
    await collection.insert({ n: 0 }, { id: "y" });
    // Each holds one document before either asks for the other one.
    const holding = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    const both = (ids: readonly string[], own: number): Promise<unknown> =>
      store.transaction(async (tx) => {
        for (const id of ids) {
          const add = (stored: Counter): Counter => ({ ...stored, n: stored.n + 1 });
          await tx.collection(counters).update(id, add);
          holding[own]?.resolve(undefined);
          await holding[1 - own]?.promise;
        }
      });
    await Promise.all([both(["x", "y"], 0), both(["y", "x"], 1)]);
    expect(await collection.getMany(["x", "y"])).toMatchObject([{ n: 2 }, { n: 2 }]);
  });

  it("do not wait until PostgreSQL finds a deadlock", { timeout: 60_000 }, async () => {
    const url = await newDatabase();
    await findDeadlocksAfter(3_600_000, url);
    const store = await open(url);
    const collection = store.collection(counters);
    const ids = ["x", "y", "z"];
    for (const id of ids) await collection.insert({ n: 0 }, { id });
    const all = Array.from({ length: 12 }, (_, own) =>
      store.transaction(async (tx) => {
        for (const place of [own, own + 1]) {
          await tx.collection(counters).increment(ids[place % 3] ?? "", { n: 1 });
        }
      }),
    );
    await Promise.all(all);
    expect(await collection.getMany(ids)).toMatchObject([{ n: 8 }, { n: 8 }, { n: 8 }]);
  });
});

describe.skipIf(noPostgres !== undefined)("A change in PostgreSQL", () => {
  it("is done again when it was given up in a deadlock", { timeout: 60_000 }, async () => {
    const url = await newDatabase();
    await findDeadlocksAfter(2000, url);
    const store = await open(url);
    const collection = store.collection(counters);
    for (const id of ["x", "y"]) await collection.insert({ n: 0 }, { id });
    const other = await connect(url);
    // Only the store's connection looks for deadlocks, so it is the one that is given up.
    await other.query("SET deadlock_timeout = '1h'; BEGIN; DELETE FROM counters WHERE id = 'y'");
    const removing = collection.removeMany({ where: {} });
    const waiting =
      "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
    await expect.poll(() => runSql(url, waiting), { interval: 5 }).toEqual([{ count: "1" }]);
    await other.query("UPDATE counters SET version = 2 WHERE id = 'x'; COMMIT");
    expect(await removing).toBe(1);
  });
});

describe("A transaction of SQLite that waits for another process", () => {
  it("begins when that is done, if it has retries, and not at all without", async () => {
    const path = join(temporaryFolder(), "a.db");
    const store = await open(`sqlite:${path}`, { collections: [counters], busyTimeout: 0 });
    const process = new DatabaseSync(path);
    process.exec("BEGIN IMMEDIATE");
    let runs = 0;
    const add = async (tx: Transaction): Promise<unknown> => {
      runs += 1;
      return tx.collection(counters).insert({ n: runs });
    };
    const patient = store.transaction(add, { retries: 1_000_000 });
    const busy = { code: "ERR_DOCUMENTS_BUSY" };
    await expect(store.transaction(add)).rejects.toMatchObject(busy);
    await expect(store.transaction(add, { retries: 2 })).rejects.toMatchObject(busy);
    expect(runs).toBe(0);
    process.exec("COMMIT");
    process.close();
    await patient;
    expect(await store.collection(counters).find()).toMatchObject([{ n: 1 }]);
  });
});

async function open(url: string, options?: StoreOptions): Promise<Store> {
  const store = await openStore(url, options);
  onTestFinished(() => store.close());
  return store;
}

/** Makes a server look for deadlocks after this number of milliseconds, until the test ends. */
async function findDeadlocksAfter(time: number, url: string): Promise<void> {
  const alter = async (text: string): Promise<unknown> =>
    runSql(
      url,
      `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I ${text}', current_database()); END $$`,
    );
  await alter(`SET deadlock_timeout = ${time}`);
  onTestFinished(async () => {
    await alter("RESET deadlock_timeout");
  });
}

/** Connects a client until the test ends. */
async function connect(url: string): Promise<Client> {
  const [, port, database = "", host = ""] = /:(\d+)\/([^/?]*)\?host=(.*)$/.exec(url) ?? [];
  const client = new Client({ host, port: Number(port), database, user: "postgres" });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}
