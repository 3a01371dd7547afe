import { Client } from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { administer, defineCollection, openStore, type Store } from "../src/index.ts";
import { newDatabase } from "./open-for-test.ts";
import { connectionOf, noPostgres } from "./postgres-server.ts";

const notes = defineCollection<{ n: number }>("notes", { changes: "documents", unique: ["n"] });

async function openWith(url: string): Promise<Store> {
  const store = await openStore(url, { collections: [notes] });
  onTestFinished(() => store.close());
  return store;
}

/** Connects next to the store. */
async function connect(url: string, database?: string): Promise<Client> {
  const client = new Client({
    ...connectionOf(url),
    ...(database === undefined ? {} : { database }),
  });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** Leaves a number of the feed unused: the insert fails after it was drawn. */
async function leaveGap(store: Store): Promise<void> {
  const refusal = new Error("undone");
  const undone = store.transaction(async (transaction) => {
    await transaction.collection(notes).insert({ n: -1 });
    throw refusal;
  });
  await expect(undone).rejects.toBe(refusal);
}

describe.skipIf(noPostgres !== undefined)("The change feed of PostgreSQL", () => {
  it.each(["the same", "another"])(
    "is not held up by an unrelated transaction in %s database",
    async (which) => {
      const url = await newDatabase();
      const store = await openWith(url);
      await store.collection(notes).insert({ n: 0 });
      await leaveGap(store);
      const other = await connect(url, which === "another" ? "postgres" : undefined);
      await other.query("BEGIN; SELECT pg_current_xact_id()");
      for (let n = 1; n <= 50; n += 1) await store.collection(notes).insert({ n });
      const seen: unknown[] = [];
      const began = performance.now();
      await store.consume("all", (changes) => void seen.push(...changes), { atEnd: "end" });
      expect(seen).toHaveLength(51);
      expect(performance.now() - began).toBeLessThan(900);
      await other.query("ROLLBACK");
    },
  );

  it("ends only after a transaction that may still commit an earlier change", async () => {
    const url = await newDatabase();
    const store = await openWith(url);
    await store.collection(notes).insert({ n: 0 });
    const inserted = Promise.withResolvers<undefined>();
    const going = Promise.withResolvers<undefined>();
    const slow = store.transaction(async (transaction) => {
      await transaction.collection(notes).insert({ n: 1 });
      inserted.resolve(undefined);
      await going.promise;
    });
    await inserted.promise;
    await store.collection(notes).insert({ n: 2 });
    const seen: unknown[] = [];
    let isOver = false;
    const consuming = store
      .consume(
        "all",
        (changes) => void seen.push(...changes.map(({ document }) => Object(document).n)),
        { atEnd: "end" },
      )
      .then(() => {
        isOver = true;
      });
    await new Promise((resolve) => {
      setTimeout(resolve, 1500);
    });
    expect([seen, isOver]).toEqual([[0], false]);
    going.resolve(undefined);
    await Promise.all([slow, consuming]);
    expect(seen).toEqual([0, 1, 2]);
  });

  it("is found healthy after a document was removed and another one got its id", async () => {
    const store = await openWith(await newDatabase());
    const collection = store.collection(notes);
    await collection.insert({ n: 1 }, { id: "x" });
    await collection.update("x", { n: 2 });
    await collection.remove("x");
    await collection.insert({ n: 3 }, { id: "x" });
    expect(await administer(store).check()).toEqual({ ok: true, problems: [] });
  });
});
