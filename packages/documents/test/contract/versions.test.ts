import { describe, expect, it } from "vitest";
import { administer, defineCollection, VersionError } from "../../src/index.ts";
import { enginesOfFile } from "../open-for-test.ts";

interface Note {
  text: string;
  expiresAt?: string;
}

const notes = defineCollection<Note>("notes", { changes: "ids", indexes: ["text"] });
const plain = defineCollection<Note>("plain", { unique: ["text"] });
const searched = defineCollection<Note>("searched", { search: ["text"] });
const expiring = defineCollection<Note>("expiring", { expires: { field: "expiresAt" } });
const collections = [notes, plain, searched, expiring];
const chosen = { id: "a" };

describe.each(enginesOfFile())("A document with the id of a removed one in %s", (_engine, open) => {
  it("is refused as the removed one, also in the same millisecond", async () => {
    const store = await open({ collections });
    for (const definition of [notes, plain, searched]) {
      const collection = store.collection(definition);
      const removed = await collection.insert({ text: "1" }, chosen);
      await collection.remove("a");
      const again = await collection.insert({ text: "2" }, chosen);
      expect(again.version).toBe(removed.version);
      expect(await collection.get("a")).toEqual(again);
      const asRemoved = { ifVersion: removed };
      await expect(collection.update("a", { text: "3" }, asRemoved)).rejects.toThrow(VersionError);
      const change = collection.update("a", () => ({ text: "3" }), asRemoved);
      await expect(change).rejects.toThrow("is another one than that of version 1");
      await expect(collection.replace("a", { text: "3" }, asRemoved)).rejects.toThrow(VersionError);
      await expect(collection.remove("a", asRemoved)).rejects.toThrow(VersionError);
      expect(await collection.get("a")).toEqual(again);
      const updated = await collection.update("a", { text: "4" }, { ifVersion: again });
      expect(updated).toMatchObject({ text: "4", version: 2, createdAt: again.createdAt });
      await expect(collection.remove("a", { ifVersion: again })).rejects.toThrow(VersionError);
      expect(await collection.remove("a", { ifVersion: updated })).toBe(true);
    }
  });

  it("is another one in a transaction, after an expiry, and of an upsert", async () => {
    const store = await open({ collections });
    const collection = store.collection(notes);
    await store.transaction(async (transaction) => {
      const inside = transaction.collection(notes);
      const removed = await inside.insert({ text: "1" }, chosen);
      await inside.remove("a");
      const again = await inside.upsert({ text: "2" }, chosen);
      expect(again.createdAt > removed.createdAt).toBe(true);
    });
    const before = await collection.get("a");
    await collection.removeMany({ where: {} });
    const after = await collection.upsert({ text: "3" }, chosen);
    expect(after.createdAt).not.toBe(before?.createdAt);
    const short = store.collection(expiring);
    const expired = await short.insert({ text: "a", expiresAt: "2020-01-01T00:00:00Z" }, chosen);
    const again = await short.insert({ text: "b" }, chosen);
    expect(again.createdAt > expired.createdAt).toBe(true);
  });

  it("begins with version 1, and follows a loaded one", async () => {
    const store = await open({ collections });
    const collection = store.collection(plain);
    const at = "2026-01-01T00:00:00.000Z";
    const record = { id: "a", version: 7, createdAt: at, updatedAt: at };
    await administer(store).load(async (loading) => {
      await loading.add(plain, [{ ...record, document: { text: "4" } }]);
    });
    const loaded = await collection.get("a");
    expect(loaded?.version).toBe(7);
    await collection.remove("a", { ifVersion: loaded });
    expect(await collection.insert({ text: "5" }, chosen)).toMatchObject({ version: 1 });
  });
});
