import { describe, expect, it, onTestFinished } from "vitest";
import {
  administer,
  defineCollection,
  openStore,
  type Store,
  type StoreOptions,
} from "../src/index.ts";
import { newDatabase } from "./open-for-test.ts";
import { noPostgres, runSql } from "./postgres-server.ts";

interface Note {
  text: string;
  tag?: string;
}

const notes = defineCollection<Note>("notes");
const rich = defineCollection<Note>("notes", {
  unique: ["text"],
  indexes: [["tag", "text"]],
  search: ["text"],
});

async function open(url: string, options?: StoreOptions): Promise<Store> {
  const store = await openStore(url, options);
  onTestFinished(() => store.close());
  return store;
}

describe.skipIf(noPostgres !== undefined)("A store on PostgreSQL", () => {
  it.each([
    { poolSize: 1 },
    { connectTimeout: 0 },
    { failoverTimeout: -1 },
    { statementTimeout: 0 },
  ])("refuses the options %j", async (postgres) => {
    await expect(openStore("postgres://h/d", { postgres })).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_OPTIONS",
    });
  });

  it("says that nobody answers, without the password", async () => {
    const opening = openStore("postgres://ann:secret@127.0.0.1:1/d", {
      postgres: { failoverTimeout: 0 },
    });
    await expect(opening).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_CONNECTION",
      message: expect.stringContaining("nothing listens at the host and port (ECONNREFUSED)"),
    });
    await expect(opening).rejects.not.toThrow("secret");
  });

  it("A transaction that gets none of the connections in time is told that all are taken", async () => {
    const postgres = { poolSize: 2, connectTimeout: 300, failoverTimeout: 0 };
    await using store = await open(await newDatabase(), { collections: [notes], postgres });
    const release = Promise.withResolvers<void>();
    const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const running = begun.map(({ resolve }) =>
      store.transaction(async (transaction) => {
        await transaction.collection(notes).count();
        resolve();
        await release.promise;
      }),
    );
    await Promise.all(begun.map(({ promise }) => promise));
    const waiting = store.transaction((transaction) => transaction.collection(notes).count());
    await expect(waiting).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_BUSY",
      message: "all 2 connections to PostgreSQL are taken",
    });
    release.resolve();
    await Promise.all(running);
  });

  it("says at once that there is no such database", async () => {
    const url = (await newDatabase()).replace(/\/test_\w+/, "/none");
    await expect(openStore(url)).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_CONNECTION",
      message: "PostgreSQL refused the connection: the database does not exist (SQLSTATE 3D000)",
      cause: expect.objectContaining({ code: "3D000" }),
    });
  });

  it("refuses what a unique index forbids that the definition lost, as on SQLite", async () => {
    const url = await newDatabase();
    const before = defineCollection("names", { unique: ["name"] });
    await using first = await openStore(url, { collections: [before] });
    await first.collection(before).insert({ name: "ann" });
    const now = defineCollection("names");
    await using store = await openStore(url, { collections: [now] });
    const { id } = await store.collection(now).insert({ name: "bob" });
    for (const change of [
      () => store.collection(now).insert({ name: "ann" }),
      () => store.collection(now).insertMany([{ name: "cy" }, { name: "ann" }]),
      () => store.collection(now).update(id, { name: "ann" }),
    ]) {
      await expect(change()).rejects.toMatchObject({
        code: "ERR_DOCUMENTS_UNIQUE",
        collection: "names",
        fields: [],
        message: expect.stringContaining("unique index that the definition does not name"),
      });
    }
    expect(await store.collection(now).count()).toBe(2);
  });

  it("refuses a table of another program, and leaves it as it is", async () => {
    const url = await newDatabase();
    await runSql(url, "CREATE TABLE notes (a int); INSERT INTO notes VALUES (1)");
    await expect(openStore(url, { collections: [notes] })).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_OPEN",
    });
    expect(await runSql(url, "SELECT * FROM notes")).toEqual([{ a: 1 }]);
  });

  it("is prepared once by ten that open it at the same time", async () => {
    const url = await newDatabase();
    const stores = await Promise.all(
      Array.from({ length: 10 }, () => open(url, { collections: [rich] })),
    );
    await Promise.all(
      stores.map((store, index) => store.collection(rich).insert({ text: `note ${index}` })),
    );
    const [store] = stores;
    expect(await store?.collection(rich).count({ q: "note" })).toBe(10);
  });

  it("builds indexes over the documents that are there, while others write", async () => {
    const url = await newDatabase();
    const first = await open(url, { collections: [notes] });
    await first
      .collection(notes)
      .insertMany(Array.from({ length: 1200 }, (_, index) => ({ text: `note ${index}` })));
    let isBuilt = false;
    const writing = (async () => {
      for (let index = 2000; !isBuilt; index += 1) {
        await first.collection(notes).insert({ text: `note ${index}` });
      }
    })();
    const second = await open(url, { collections: [rich] });
    isBuilt = true;
    await writing;
    const collection = second.collection(rich);
    expect(await collection.count({ q: "note 1199" })).toBe(1);
    await expect(collection.insert({ text: "note 7" })).rejects.toMatchObject({ fields: ["text"] });
  });

  it("names the field of a new unique index that documents already break, and can go on", async () => {
    const url = await newDatabase();
    const first = await open(url, { collections: [notes] });
    await first.collection(notes).insertMany([{ text: "a" }, { text: "a" }]);
    await expect(openStore(url, { collections: [rich] })).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_UNIQUE",
      collection: "notes",
      fields: ["text"],
    });
    await first.collection(notes).removeMany({ where: {} });
    await open(url, { collections: [rich] });
  });

  it("finds places of documents that were there before the definition had them, by an index", async () => {
    const url = await newDatabase();
    const before = defineCollection("shops");
    const first = await openStore(url, { collections: [before] });
    await first.collection(before).insertMany(
      Array.from({ length: 3000 }, (_, n) => ({
        n,
        at: { latitude: (n % 60) - 30, longitude: (n % 50) - 25 },
      })),
    );
    await first.close();
    const shops = defineCollection("shops", { geo: ["at"] });
    const store = await open(url, { collections: [shops] });
    await administer(store).built();
    await runSql(url, "ANALYZE shops");
    const near = { field: "at", latitude: -30, longitude: -25, maxDistance: 1000 };
    expect(await store.collection(shops).count({ near })).toBe(10);
    await store.close();
    const used =
      "SELECT sum(idx_scan)::int > 0 AS used FROM pg_stat_user_indexes WHERE indexrelname LIKE 'shops:geo:%'";
    await expect.poll(() => runSql(url, used)).toEqual([{ used: true }]);
  });

  it("uses its indexes for an equality with the order of the next field", async () => {
    const url = await newDatabase();
    const store = await open(url, { collections: [rich] });
    await store.collection(rich).insertMany(
      Array.from({ length: 3000 }, (_, index) => ({
        text: `note ${index}`,
        tag: `t${index % 3}`,
      })),
    );
    await runSql(url, "ANALYZE");
    await store.collection(rich).find({ where: { tag: "t1" }, sort: ["text"], limit: 5 });
    await store.close();
    const used =
      "SELECT sum(idx_scan)::int AS scans FROM pg_stat_user_indexes WHERE indexrelname LIKE 'notes:index:%'";
    await expect.poll(() => runSql(url, used)).toEqual([{ scans: 1 }]);
  });

  it("goes on after the server closed its connections", async () => {
    const url = await newDatabase();
    const store = await open(url, { collections: [notes] });
    const { id } = await store.collection(notes).insert({ text: "kept" });
    await runSql(
      url,
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'fetchwork' " +
        "AND datname = current_database()",
    );
    expect(await store.collection(notes).get(id)).toMatchObject({ text: "kept" });
    await store.collection(notes).insert({ text: "more" });
    expect(await store.collection(notes).count()).toBe(2);
  });

  it("says of a change under which the connection broke that its fate is unknown", async () => {
    const url = await newDatabase();
    const store = await open(url, { collections: [notes] });
    const { id } = await store.collection(notes).insert({ text: "a" });
    const held = Promise.withResolvers<undefined>();
    const locking = store.transaction(async (tx) => {
      await tx.collection(notes).update(id, { text: "b" });
      await held.promise;
    });
    await expect.poll(() => runSql(url, blockers)).toHaveLength(1);
    const change = store.collection(notes).update(id, { text: "c" });
    const outcome = change.catch((error: unknown) => error);
    await expect.poll(() => runSql(url, waitersQuery)).toHaveLength(1);
    await runSql(url, `SELECT pg_terminate_backend(pid) FROM (${waitersQuery}) AS waiters`);
    expect(await outcome).toMatchObject({ code: "ERR_DOCUMENTS_CONNECTION" });
    held.resolve(undefined);
    await locking;
    expect(await store.collection(notes).get(id)).toMatchObject({ text: "b" });
  });

  it("ends a statement that takes too long", async () => {
    const url = await newDatabase();
    const store = await open(url, { collections: [notes], postgres: { statementTimeout: 400 } });
    const { id } = await store.collection(notes).insert({ text: "a" });
    const held = Promise.withResolvers<undefined>();
    const locking = store.transaction(async (tx) => {
      await tx.collection(notes).update(id, { text: "b" });
      await held.promise;
    });
    await expect.poll(() => runSql(url, blockers)).toHaveLength(1);
    await expect(store.collection(notes).update(id, { text: "c" })).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_TIMEOUT",
    });
    held.resolve(undefined);
    await locking;
  });

  it("shows no value in an error", async () => {
    const store = await open(await newDatabase(), { collections: [rich] });
    await store.collection(rich).insert({ text: "very secret" });
    const error: unknown = await store
      .collection(rich)
      .insert({ text: "very secret" })
      .catch((reason: unknown) => reason);
    const { inspect } = await import("node:util");
    expect(inspect(error, { depth: 9 })).not.toContain("very secret");
  });

  it("tells changes in the order of the documents' versions, from many at once", async () => {
    const url = await newDatabase();
    const followed = defineCollection<{ count: number }>("followed", { changes: "ids" });
    const stores = await Promise.all([open(url, { collections: [followed] }), open(url)]);
    const [one, two] = stores.map((store) => store.collection(followed));
    if (one === undefined || two === undefined) throw new Error("no store");
    const { id } = await one.insert({ count: 0 });
    const add = (collection: typeof one) =>
      collection.update(id, ({ count }) => ({ count: count + 1 }));
    const undo = () =>
      stores[0]
        .transaction(async (tx) => {
          await tx.collection(followed).insert({ count: 9 });
          throw new Error("no");
        })
        .catch(() => undefined);
    await Promise.all(Array.from({ length: 20 }, () => [add(one), add(two), undo()]).flat());
    const versions: number[] = [];
    for await (const change of stores[1].changes({ atEnd: "end" })) versions.push(change.version);
    expect(versions).toEqual(Array.from({ length: 41 }, (_, index) => index + 1));
  });
});

const blockers =
  "SELECT pid FROM pg_stat_activity WHERE state = 'idle in transaction' AND datname = current_database()";
const waitersQuery =
  "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
