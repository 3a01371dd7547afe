import { join } from "node:path";
import { expect, it } from "vitest";
import { defineCollection, openStore } from "../src/index.ts";
import { temporaryFolder } from "./temporary-folder.ts";

interface Note {
  group: string;
  rank: number;
}

const notes = defineCollection<Note>("notes", { indexes: ["group"], softDelete: true });
const documents = Array.from({ length: 3000 }, (_, rank) => ({ group: "a", rank }));

it.each([
  ["by an index", { group: "a" }],
  ["without an index", { rank: { gte: 0 } }],
])(
  "SQLite lets other changes in between when it removes many documents %s",
  async (_name, where) => {
    const store = await openStore(`sqlite:${join(temporaryFolder(), "a.db")}`, {
      collections: [notes],
    });
    const collection = store.collection(notes);
    const stored = await collection.insertMany(documents);
    const last = stored.at(-1)?.id ?? "";
    const ends: string[] = [];
    const removed = collection.removeMany({ where }).then((count) => {
      ends.push("removed");
      return count;
    });
    // By now the documents to remove are known.
    await new Promise((resolve) => setImmediate(resolve));
    await collection.update(last, { group: "b", rank: -1 });
    ends.push("updated");
    expect(await removed).toBe(2999);
    expect(ends).toEqual(["updated", "removed"]);
    expect(await collection.find({})).toEqual([expect.objectContaining({ id: last, group: "b" })]);

    let isPurged = false;
    const purged = collection.purgeMany().then((count) => {
      isPurged = true;
      return count;
    });
    await new Promise((resolve) => setImmediate(resolve));
    const restored = await collection.restore(stored[2998]?.id ?? "");
    expect(restored?.rank).toBe(2998);
    expect(isPurged).toBe(false);
    expect(await purged).toBe(2998);
    expect(await collection.count()).toBe(2);
    await store.close();
  },
);

it("SQLite removes many documents as a whole in a transaction", async () => {
  const store = await openStore(`sqlite:${join(temporaryFolder(), "a.db")}`, {
    collections: [notes],
  });
  const collection = store.collection(notes);
  await collection.insertMany(documents);
  const attempt = store.transaction(async (transaction) => {
    expect(await transaction.collection(notes).removeMany({ where: { group: "a" } })).toBe(3000);
    throw new Error("no");
  });
  await expect(attempt).rejects.toThrow("no");
  expect(await collection.count()).toBe(3000);
  await store.close();
});

it("A store that is closed while SQLite removes many documents says so", async () => {
  const path = join(temporaryFolder(), "a.db");
  const store = await openStore(`sqlite:${path}`, { collections: [notes] });
  await store.collection(notes).insertMany(documents);
  const removing = store.collection(notes).removeMany({ where: { group: "a" } });
  const outcome = removing.catch((error: unknown) => error);
  await new Promise((resolve) => setImmediate(resolve));
  await store.close();
  expect(await outcome).toMatchObject({ code: "ERR_DOCUMENTS_CLOSED" });
  const again = await openStore(`sqlite:${path}`, { collections: [notes] });
  const left = await again.collection(notes).count();
  expect(left).toBeGreaterThan(0);
  expect(left % 250).toBe(0);
  await again.close();
});

it("SQLite keeps what is added after a removal of many documents was asked for", async () => {
  const store = await openStore(`sqlite:${join(temporaryFolder(), "a.db")}`, {
    collections: [notes],
  });
  const collection = store.collection(notes);
  await collection.insertMany(documents);
  const [count, added] = await Promise.all([
    collection.removeMany({ where: { group: "a" } }),
    collection.insert({ group: "a", rank: 3000 }),
  ]);
  expect(count).toBe(3000);
  expect(await collection.find()).toEqual([added]);
  await store.close();
});
