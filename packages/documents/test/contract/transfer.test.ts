import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  administer,
  defineCollection,
  type DocumentRecord,
  type Store,
  UniqueError,
} from "../../src/index.ts";
import { allEngines } from "../open-for-test.ts";

interface Note {
  title: string;
  until?: string;
}
const notes = defineCollection<Note>("notes", { unique: ["title"], search: ["title"] });
const kept = defineCollection<Note>("kept", { softDelete: true });
const short = defineCollection<Note>("short", { expires: { field: "until" } });

const record: DocumentRecord = {
  id: "a",
  version: 7,
  createdAt: "2020-01-01T00:00:00.000Z",
  updatedAt: "2021-01-01T00:00:00.000Z",
  document: { title: "Größe", deep: [{ b: 1, a: 0.5 }] },
};

async function readAll(
  store: Store,
  collection: string,
  after?: string,
): Promise<DocumentRecord[]> {
  return administer(store).snapshot(({ records }) =>
    Array.fromAsync(records(collection, { after })),
  );
}

function load(store: Store, definition: typeof notes, records: readonly DocumentRecord[]) {
  return administer(store).load((loading) => loading.add(definition, records));
}

describe.each(allEngines)("Moving documents of %s", (_engine, open) => {
  it.each([
    ["an id", { id: "a b" }],
    ["a version", { version: 0 }],
    ["a version with a fraction", { version: 1.5 }],
    ["a time of insert", { createdAt: "yesterday" }],
    ["a time of change", { updatedAt: "2021-99-01T00:00:00.000Z" }],
    ["a time of removal where none is kept", { deletedAt: "2021-01-01T00:00:00.000Z" }],
    ["a document", { document: { id: "x" } }],
  ])("refuses %s that no store has, and adds nothing", async (_text, part) => {
    const store = await open({ collections: [notes] });
    const wrong = load(store, notes, [
      { ...record, id: "first" },
      { ...record, ...part },
    ]);
    await expect(wrong).rejects.toMatchObject({ name: "InputError" });
    expect(await store.collection(notes).count()).toBe(0);
  });

  it("refuses ids and unique fields that are taken, and undoes all of the work", async () => {
    const store = await open({ collections: [notes] });
    await load(store, notes, [record]);
    await expect(load(store, notes, [record])).rejects.toBeInstanceOf(UniqueError);
    const twin = administer(store).load(async (loading) => {
      await loading.noteMigrations([{ id: 1, name: "one", at: record.createdAt }]);
      await loading.add(notes, [{ ...record, id: "b", document: { title: "other" } }]);
      await loading.add(notes, [{ ...record, id: "c" }]);
    });
    await expect(twin).rejects.toMatchObject({ code: "ERR_DOCUMENTS_UNIQUE", fields: ["title"] });
    expect(await store.collection(notes).find()).toMatchObject([{ id: "a" }]);
    expect((await administer(store).status()).migrations).toEqual([]);
  });

  it("keeps ids, versions, times and removals, and finds and counts what came", async () => {
    const store = await open();
    const gone = { ...record, id: "b", deletedAt: "2022-01-01T00:00:00.000Z" };
    await load(store, notes, [record]);
    await load(store, kept, [record, gone]);
    expect(await readAll(store, "notes")).toEqual([record]);
    expect(await readAll(store, "kept")).toEqual([record, gone]);
    expect(await readAll(store, "kept", "a")).toEqual([gone]);
    const [found] = await store.collection(notes).find({ q: "gross" });
    expect(found).toMatchObject({ id: "a", version: 7, createdAt: record.createdAt });
    expect(await store.collection(kept).count()).toBe(1);
    expect(await store.collection(kept).find({ deleted: "only" })).toMatchObject([{ id: "b" }]);
    await store.collection(notes).update("a", { title: "new" }, { ifVersion: 7 });
    expect((await store.collection(notes).get("a"))?.version).toBe(8);
  });

  it("reads documents that expired, and lets those that come expire", async () => {
    const store = await open();
    const past = { ...record, document: { title: "t", until: "2020-01-01T00:00:00.000Z" } };
    await load(store, short, [past]);
    expect(await store.collection(short).get("a")).toBeUndefined();
    expect(await readAll(store, "short")).toEqual([past]);
  });

  it("reads one moment, page after page, whatever changes in the meantime", async () => {
    const store = await open({ collections: [kept] });
    const titles = Array.from({ length: 2500 }, (_entry, index) => ({ title: `t${index}` }));
    await store.collection(kept).insertMany(titles);
    const seen: DocumentRecord[] = [];
    // Begun outside of the work, as another part of a program would.
    const started = Promise.withResolvers<void>();
    const change = started.promise.then(() => store.collection(kept).removeMany({ where: {} }));
    await administer(store).snapshot(async ({ records, status }) => {
      for await (const each of records("kept")) {
        started.resolve();
        seen.push(each);
      }
      expect(status.collections).toEqual([{ name: "kept", documents: 2500 }]);
    });
    await change;
    expect(seen).toHaveLength(2500);
    expect(seen.some(({ deletedAt }) => deletedAt !== undefined)).toBe(false);
    expect(seen.map(({ id }) => id)).toEqual(seen.map(({ id }) => id).toSorted());
    expect(await store.collection(kept).count()).toBe(0);
  });

  it("tells what the store holds and what opening it with definitions would do", async () => {
    const store = await open({ collections: [defineCollection("notes"), kept] });
    await store.collection(kept).insert({ title: "t" });
    const status = await administer(store).status();
    expect(status.collections).toEqual([
      { name: "kept", documents: 1 },
      { name: "notes", documents: 0 },
    ]);
    expect(status.engine).toMatch(/^(?:SQLite|PostgreSQL) \d/);
    const long = Array.from({ length: 100 }, () => ({ title: randomBytes(2500).toString("hex") }));
    await store.collection(kept).insertMany(long);
    expect((await administer(store).status()).bytes).toBeGreaterThan(status.bytes + 250_000);
    const migrations = [{ id: 1, name: "one", up: () => undefined }];
    expect(await administer(store).plan({ collections: [notes, short], migrations })).toEqual([
      { kind: "migrate", id: 1, name: "one" },
      { kind: "build-index", collection: "notes", fields: ["title"] },
      { kind: "build-search", collection: "notes", fields: ["title"] },
      { kind: "create-collection", collection: "short", fields: [] },
      { kind: "unknown-collection", collection: "kept" },
    ]);
    expect(
      await administer(store).plan({ collections: [defineCollection("notes"), kept] }),
    ).toEqual([]);
  });
});
