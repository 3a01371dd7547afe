import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { administer, defineCollection, openStore, type Store } from "../src/index.ts";
import { DocumentStore } from "../src/store/document-store.ts";
import { openInMemory } from "./open-for-test.ts";
import { temporaryFolder } from "./temporary-folder.ts";

interface Post {
  title: string;
  views?: number;
  until?: number;
}

const posts = defineCollection<Post>("posts", {
  unique: ["title"],
  indexes: ["views"],
  search: ["title"],
  softDelete: true,
  expires: { field: "until" },
});

async function openFile(path: string): Promise<Store> {
  const store = await openStore(`sqlite:${path}`, { collections: [posts] });
  onTestFinished(() => store.close());
  return store;
}

describe("The care of a store", () => {
  it("is refused for what openStore did not give", async () => {
    const store = await openInMemory();
    expect(store).toBeInstanceOf(DocumentStore);
    const other: Store = { ...store };
    expect(() => administer(other)).toThrow(
      expect.objectContaining({ code: "ERR_DOCUMENTS_OPTIONS" }),
    );
  });

  it("ends with the store", async () => {
    const store = await openInMemory();
    await store.close();
    const care = administer(store);
    const refusal = { code: "ERR_DOCUMENTS_CLOSED" };
    await expect(care.status()).rejects.toMatchObject(refusal);
    await expect(care.check()).rejects.toMatchObject(refusal);
    await expect(care.sweep()).rejects.toMatchObject(refusal);
    const folder = temporaryFolder();
    await expect(care.backup(join(folder, "b.db"))).rejects.toMatchObject(refusal);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("tells what the store holds", async () => {
    const store = await openFile(join(temporaryFolder(), "a.db"));
    await store.collection(posts).insertMany([{ title: "a" }, { title: "b" }]);
    const status = await administer(store).status();
    expect(status.collections).toEqual([{ name: "posts", documents: 2 }]);
    expect(status.migrations).toEqual([]);
    expect(status.engine).toMatch(/^SQLite 3\.\d+/);
    expect(status.bytes).toBeGreaterThan(4096);
  });

  it("tells what other definitions and migrations would do, and does nothing", async () => {
    const store = await openFile(join(temporaryFolder(), "a.db"));
    await store.collection(defineCollection("others")).count();
    const care = administer(store);
    const up = (): never => {
      throw new Error("must not run");
    };
    const wanted = {
      collections: [
        defineCollection<Post>("posts", { unique: ["title"], indexes: ["until"] }),
        defineCollection("new"),
      ],
      migrations: [{ id: 7, name: "seven", up }],
    };
    const steps = await care.plan(wanted);
    expect(steps).toEqual([
      { kind: "migrate", id: 7, name: "seven" },
      { kind: "build-index", collection: "posts", fields: ["title"] },
      { kind: "build-index", collection: "posts", fields: ["until"] },
      { kind: "rebuild-expiry", collection: "posts", fields: [] },
      { kind: "unused-index", collection: "posts", fields: ["title"] },
      { kind: "unused-index", collection: "posts", fields: ["views"] },
      { kind: "unused-search", collection: "posts", fields: ["title"] },
      { kind: "create-collection", collection: "new", fields: [] },
      { kind: "unknown-collection", collection: "others" },
    ]);
    expect(await care.plan(wanted)).toEqual(steps);
    expect(await care.plan({ collections: [posts, defineCollection("others")] })).toEqual([]);
  });

  it("removes what expired when it is told to", async () => {
    const store = await openFile(join(temporaryFolder(), "a.db"));
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const until = Date.now() + 1000;
    const old = Array.from({ length: 1500 }, (_, index) => ({ title: `old ${index}`, until }));
    await store.collection(posts).insertMany([...old, { title: "new" }]);
    expect(await administer(store).sweep()).toBe(0);
    vi.setSystemTime(until);
    expect(await administer(store).sweep()).toBe(1500);
    expect((await administer(store).status()).collections).toMatchObject([{ documents: 1 }]);
    expect(await administer(store).check()).toEqual({ ok: true, problems: [] });
  });
});

describe("A backup", () => {
  it("is never written over a file, or where it cannot be", async () => {
    const folder = temporaryFolder();
    const store = await openFile(join(folder, "a.db"));
    const path = join(folder, "taken.db");
    writeFileSync(path, "mine");
    const refusal = { code: "ERR_DOCUMENTS_OPEN" };
    await expect(administer(store).backup(path)).rejects.toMatchObject(refusal);
    await expect(administer(store).backup(join(folder, "no", "b.db"))).rejects.toMatchObject(
      refusal,
    );
    expect(statSync(path).size).toBe(4);
    expect(readdirSync(folder).filter((name) => name.endsWith(".part"))).toEqual([]);
  });

  it("is the store at one moment, while it is written", async () => {
    const folder = temporaryFolder();
    const store = await openFile(join(folder, "a.db"));
    const collection = store.collection(posts);
    const pair = (index: number): Promise<unknown> =>
      collection.insertMany([{ title: `left ${index}` }, { title: `right ${index}` }]);
    for (let index = 0; index < 200; index += 1) await pair(index);
    await collection.remove((await collection.find({ limit: 1 }))[0]?.id ?? "");
    const path = join(folder, "b.db");
    const backup = administer(store).backup(path);
    let isDone = false;
    void backup.finally(() => {
      isDone = true;
    });
    let last = 200;
    for (; !isDone; last += 1) await pair(last);
    await backup;
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const copy = await openFile(path);
    const copied = copy.collection(posts);
    const count = async (prefix: string): Promise<number> =>
      copied.count({ where: { title: { prefix } }, deleted: "include" });
    const left = await count("left");
    expect(left).toBeGreaterThanOrEqual(200);
    expect(left).toBeLessThanOrEqual(last);
    expect(await count("right")).toBe(left);
    expect(await copied.count({ deleted: "only" })).toBe(1);
    expect(await copied.find({ q: "left 17", limit: 1 })).toHaveLength(1);
    expect(await administer(copy).check()).toEqual({ ok: true, problems: [] });
    await copied.insert({ title: "more" });
    await expect(copied.insert({ title: "left 5" })).rejects.toMatchObject({ fields: ["title"] });
  });

  it("is made of a store in memory too", async () => {
    const store = await openInMemory({ collections: [posts] });
    await store.collection(posts).insert({ title: "a" });
    const path = join(temporaryFolder(), "b.db");
    await administer(store).backup(path);
    const copy = await openFile(path);
    expect(await copy.collection(posts).find()).toMatchObject([{ title: "a" }]);
    expect(existsSync(`${path}.part`)).toBe(false);
  });
});

describe("A check", () => {
  it.each([
    [
      "a document that is not JSON",
      `UPDATE posts SET doc = '{' WHERE id = 'x'`,
      'the document "x" of "posts" is damaged',
    ],
    [
      "a count that is wrong",
      `UPDATE "fetchwork:collections" SET documents = 9`,
      '"posts" has 2 documents, and counted 9',
    ],
    [
      "a count that is too small",
      `UPDATE "fetchwork:collections" SET documents = 1`,
      '"posts" has 2 documents, and counted 1',
    ],
    [
      "a search that fell behind",
      `DELETE FROM "posts:search"`,
      'the search of "posts" lacks 2 documents',
    ],
  ])("finds %s", async (_text, damage, problem) => {
    const path = join(temporaryFolder(), "a.db");
    const store = await openFile(path);
    const plain = store.collection(posts);
    await plain.insert({ title: "secret" }, { id: "x" });
    await plain.insert({ title: "b" });
    expect(await administer(store).check()).toEqual({ ok: true, problems: [] });
    const database = new DatabaseSync(path);
    if (damage.includes("doc")) database.exec('DROP INDEX IF EXISTS "posts:index:[""views""]"');
    if (damage.includes("doc ="))
      database.exec('DROP INDEX IF EXISTS "posts:unique-live:[""title""]"');
    database.exec(damage);
    database.close();
    expect(await administer(store).check()).toEqual({ ok: false, problems: [problem] });
  });
});
