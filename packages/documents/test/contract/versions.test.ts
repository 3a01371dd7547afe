import { describe, expect, it } from "vitest";
import { administer, defineCollection, VersionError } from "../../src/index.ts";
import { enginesOfFile } from "../open-for-test.ts";

interface Note {
  text: string;
  expiresAt?: string;
}

const notes = defineCollection<Note>("notes", { changes: "ids", indexes: ["text"] });
const plain = defineCollection<Note>("plain", { unique: ["text"] });
const kept = defineCollection<Note>("kept", { softDelete: true });
const expiring = defineCollection<Note>("expiring", { expires: { field: "expiresAt" } });
const collections = [notes, plain, kept, expiring];
const chosen = { id: "a" };

describe.each(enginesOfFile())("The versions of an id in %s", (_engine, open) => {
  it("go on after a removal, so that a stale version is refused", async () => {
    const store = await open({ collections });
    for (const definition of [notes, plain]) {
      const collection = store.collection(definition);
      await collection.insert({ text: "1" }, chosen);
      await collection.update("a", { text: "2" });
      await collection.remove("a");
      const again = await collection.insert({ text: "3" }, chosen);
      expect(again.version).toBeGreaterThan(2);
      expect(await collection.get("a")).toEqual(again);
      const stale = collection.update("a", { text: "4" }, { ifVersion: 1 });
      await expect(stale).rejects.toThrow(VersionError);
      await collection.remove("a");
      const upserted = await collection.upsert({ text: "5" }, chosen);
      expect(upserted.version).toBeGreaterThan(again.version);
    }
    const versions: number[] = [];
    for await (const { id, version } of store.changes({ atEnd: "end" })) {
      if (id === "a") versions.push(version);
    }
    expect(versions).toEqual(versions.toSorted((one, other) => one - other));
    expect(versions).toHaveLength(6);
  });

  it("begin with 1 where the store makes the id, and where nothing was removed", async () => {
    const store = await open({ collections });
    const collection = store.collection(notes);
    expect(await collection.insert({ text: "a" }, chosen)).toMatchObject({ version: 1 });
    await collection.remove("a");
    expect(await collection.insert({ text: "b" })).toMatchObject({ version: 1 });
    expect(await store.collection(plain).insert({ text: "a" }, chosen)).toMatchObject({
      version: 1,
    });
  });

  it("go on in inserts of one turn, and in those of a transaction", async () => {
    const store = await open({ collections });
    const collection = store.collection(notes);
    const ids = ["a", "b", "c"];
    for (const id of ids) await collection.insert({ text: id }, { id });
    await collection.removeMany({ where: { text: { in: ["a", "b"] } } });
    await collection.remove("c");
    const added = await Promise.all([
      ...ids.map((id) => collection.insert({ text: id }, { id })),
      collection.insert({ text: "d" }),
      collection.insert({ text: "e" }),
    ]);
    expect(added.map(({ version }) => version)).toEqual([2, 2, 2, 1, 1]);
    const stored = await Promise.all(added.map(({ id }) => collection.get(id)));
    expect(stored).toEqual(added);
    await store.transaction(async (transaction) => {
      const inside = transaction.collection(notes);
      await inside.update("a", { text: "x" });
      await inside.remove("a");
      expect((await inside.insert({ text: "y" }, chosen)).version).toBeGreaterThan(3);
    });
    expect((await collection.get("a"))?.version).toBeGreaterThan(3);
  });

  it("go on after a purge, and after an expiry that a sweep or an insert found", async () => {
    const store = await open({ collections });
    const removed = store.collection(kept);
    await removed.insert({ text: "a" }, chosen);
    await removed.remove("a");
    await removed.purge("a");
    expect((await removed.insert({ text: "a" }, chosen)).version).toBeGreaterThan(2);
    const short = store.collection(expiring);
    const expiresAt = "2020-01-01T00:00:00.000Z";
    await short.insert({ text: "a", expiresAt }, chosen);
    await administer(store).sweep();
    const second = await short.insert({ text: "a", expiresAt }, chosen);
    expect(second.version).toBeGreaterThan(1);
    const third = await short.insert({ text: "a" }, chosen);
    expect(third.version).toBeGreaterThan(second.version);
  });

  it("are those of a loaded document, which later ones follow", async () => {
    const store = await open({ collections });
    const collection = store.collection(plain);
    const at = "2026-01-01T00:00:00.000Z";
    const record = { id: "a", version: 7, createdAt: at, updatedAt: at };
    await administer(store).load(async (loading) => {
      await loading.add(plain, [{ ...record, document: { text: "4" } }]);
    });
    expect((await collection.get("a"))?.version).toBe(7);
    await collection.remove("a");
    expect((await collection.insert({ text: "5" }, chosen)).version).toBeGreaterThan(7);
  });
});
