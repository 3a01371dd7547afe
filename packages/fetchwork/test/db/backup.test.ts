import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { administer, defineCollection, type DocumentRecord, openStore } from "@fetchwork/documents";
import { describe, expect, it } from "vitest";
import { shownUrl } from "@fetchwork/service/internal";
import { parseDefinition } from "../../src/db/definitions.ts";
import { allDefinitions, allEngines, newFolder, runDb } from "./db-world.ts";
import { items, migrations, others } from "./shop-definitions.ts";

const options = { collections: [items, ...others], migrations };

/** Fills a store with documents of many versions, one of them removed. */
async function fill(url: string): Promise<void> {
  await using store = await openStore(url, options);
  const names = Array.from({ length: 1200 }, (_entry, index) => ({ name: `item ${index}` }));
  const [first, second] = await store.collection(items).insertMany(names);
  await store.collection(items).update(first?.id ?? "", { price: 0.1 });
  await store.collection(items).remove(second?.id ?? "");
  await store.collection(others[0] ?? items).insert({ name: 'Ünïcode "\\ 🎉\n' });
}

async function read(url: string): Promise<readonly DocumentRecord[]> {
  await using store = await openStore(url);
  return await administer(store).snapshot(async ({ records }) => [
    ...(await Array.fromAsync(records("items"))),
    ...(await Array.fromAsync(records("orders"))),
  ]);
}

async function backupOf(url: string, name = "a.jsonl"): Promise<string> {
  const file = join(newFolder(), name);
  const [code] = await runDb(["backup", file, "-u", url, "-d", allDefinitions]);
  expect(code).toBe(0);
  return file;
}

it("The definition in a backup has every option of the collection", () => {
  const options = { unique: ["a"], search: ["b"], geo: ["c"], softDelete: true, keepTotal: true };
  const definition = defineCollection("all", { ...options, indexes: ["d"], changes: "ids" });
  expect(parseDefinition(JSON.parse(JSON.stringify(definition)))).toEqual(definition);
});

describe.each(allEngines)("fetchwork db backup of %s", (_engine, newUrl) => {
  it("restores the geographic index without definitions", async () => {
    const shops = defineCollection<{ at: object }>("shops", { geo: ["at"] });
    const url = await newUrl();
    {
      await using store = await openStore(url, { collections: [shops] });
      await store.collection(shops).insert({ at: { latitude: 1, longitude: 2 } });
    }
    const folder = newFolder();
    const [module, file] = [join(folder, "shops.mjs"), join(folder, "a.jsonl")];
    writeFileSync(module, `export const shops = ${JSON.stringify(shops)};`);
    const [code] = await runDb(["backup", file, "-u", url, "-d", module]);
    expect(code).toBe(0);
    const to = await newUrl();
    expect((await runDb(["restore", file, "-u", to]))[0]).toBe(0);
    const status = await runDb(["status", "-u", to, "-d", module]);
    expect(status[0]).toBe(0);
    await using restored = await openStore(to, { collections: [shops] });
    const near = { field: "at", latitude: 1, longitude: 2, maxDistance: 1 } as const;
    expect(await restored.collection(shops).count({ near })).toBe(1);
  });

  it("tells that the documents are restored where they do not fit a new unique index", async () => {
    const url = await newUrl();
    const bare = defineCollection<{ name: string }>("items", { softDelete: true });
    {
      await using store = await openStore(url, { collections: [bare] });
      await store.collection(bare).insertMany([{ name: "twin" }, { name: "twin" }]);
    }
    const file = join(newFolder(), "a.jsonl");
    expect((await runDb(["backup", file, "-u", url]))[0]).toBe(0);
    expect(await runDb(["restore", file, "-u", await newUrl(), "-d", allDefinitions])).toEqual([
      1,
      "2 documents restored\n",
      expect.stringContaining("same name"),
    ]);
  });

  it.each(["a.jsonl", "a.jsonl.gz"])(
    "writes %s for its owner alone, which restores as it was",
    async (name) => {
      const url = await newUrl();
      await fill(url);
      const file = await backupOf(url, name);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      const bytes = readFileSync(file);
      const lines = (name.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString().split("\n");
      const sha256 = createHash("sha256")
        .update(`${lines.slice(0, -2).join("\n")}\n`)
        .digest("hex");
      expect(JSON.parse(lines.at(-2) ?? "")).toEqual({ documents: 1201, sha256 });
      for (const [, another] of allEngines) {
        const to = await another();
        expect(await runDb(["restore", file, "-u", to])).toEqual([
          0,
          "1201 documents restored\n",
          "",
        ]);
        expect(await read(to)).toEqual(await read(url));
        const [code] = await runDb(["status", "-u", to, "-d", allDefinitions]);
        expect(code).toBe(0);
      }
    },
    120_000,
  );

  it("reports a missing folder and creates none", async () => {
    const url = await newUrl();
    await fill(url);
    const folder = join(newFolder(), "unmounted");
    const [code, , stderr] = await runDb(["backup", join(folder, "a.jsonl"), "-u", url]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`the folder ${folder} does not exist`),
    ]);
    expect(existsSync(folder)).toBe(false);
  });

  it("overwrites no file and leaves no temporary file", async () => {
    const url = await newUrl();
    await fill(url);
    const file = await backupOf(url);
    const before = readFileSync(file);
    const [code, , stderr] = await runDb(["backup", file, "-u", url]);
    expect([code, stderr]).toMatchObject([1, expect.stringContaining("already exists")]);
    expect(readFileSync(file)).toEqual(before);
  }, 60_000);

  it("refuses to restore into a store with documents", async () => {
    const url = await newUrl();
    await fill(url);
    const file = await backupOf(url);
    const [code, , stderr] = await runDb(["restore", file, "-u", url]);
    expect([code, stderr]).toEqual([
      1,
      `fetchwork db restore: ${shownUrl(url)} already has documents ("items", "orders"): ` +
        "restore into a new store, with another --url\n",
    ]);
  }, 60_000);
});

describe("fetchwork db restore", () => {
  it("refuses --distributed for SQLite, before it reads the file", async () => {
    const folder = newFolder();
    const args = ["restore", join(folder, "none"), "-u", `sqlite:${folder}/b.db`, "--distributed"];
    const [code, , stderr] = await runDb(args);
    expect([code, stderr]).toEqual([2, expect.stringContaining("requires a store in PostgreSQL")]);
  });

  it.each([
    ["is not a backup", () => "{}\n", "the file is not a backup of fetchwork db, line 1"],
    ["is not JSON", () => "secret\n", "invalid line in the backup: expected JSON, line 1"],
    ["is cut", (text: string) => text.slice(0, -100), "the backup is truncated"],
    [
      "lost a line",
      (text: string) => text.replace(/\n.*?\n/, "\n"),
      "the backup has 1200 documents",
    ],
    [
      "was changed",
      (text: string) => text.replace("item 5", "item 6"),
      "its checksum does not match",
    ],
    [
      "has more than its last line",
      (text: string) => `${text}{"collection":"items","document":{}}\n`,
      "continues after its last record",
    ],
  ])("rejects a file that %s and adds nothing", async (_text, change, message) => {
    const folder = newFolder();
    await fill(`sqlite:${join(folder, "a.db")}`);
    const file = await backupOf(`sqlite:${join(folder, "a.db")}`);
    writeFileSync(file, change(readFileSync(file, "utf8")));
    const to = `sqlite:${join(folder, "b.db")}`;
    const [code, , stderr] = await runDb(["restore", file, "-u", to]);
    expect([code, stderr]).toMatchObject([1, expect.stringContaining(message)]);
    expect(stderr).not.toContain("secret");
    await using store = await openStore(to);
    expect((await administer(store).status()).collections).toEqual([]);
  });

  it.each([
    ["is cut", (bytes: Buffer) => bytes.subarray(0, -20), /the backup is truncated/],
    [
      "is damaged",
      (bytes: Buffer) => Buffer.from(bytes).fill(0xff, 200, 300),
      // What comes out of it may be cut, wrong, or something else than lines.
      /the backup/,
    ],
    ["is not compressed", () => Buffer.from("{}"), /the backup is damaged/],
    ["is empty", () => Buffer.alloc(0), /the backup is truncated/],
  ])("rejects a compressed file that %s and adds nothing", async (_text, change, message) => {
    const folder = newFolder();
    await fill(`sqlite:${join(folder, "a.db")}`);
    const file = await backupOf(`sqlite:${join(folder, "a.db")}`, "a.jsonl.gz");
    writeFileSync(file, change(readFileSync(file)));
    const to = `sqlite:${join(folder, "b.db")}`;
    const [code, , stderr] = await runDb(["restore", file, "-u", to]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(message)]);
    expect(existsSync(join(folder, "b.db"))).toBe(false);
  });

  it.each([
    [
      "a collection whose name cannot be",
      { collections: [{ name: "a\u001b[2J", unique: [], indexes: [], search: [] }] },
    ],
    ["a definition without lists", { collections: [{ name: "a" }] }],
    [
      "an index that is not a path",
      { collections: [{ name: "a", unique: [], indexes: [[1]], search: [] }] },
    ],
    ["a migration without a name", { migrations: [{ id: 1, at: "2026-01-01T00:00:00.000Z" }] }],
    ["no list of migrations", { migrations: {} }],
    ["a later format", { version: 2 }],
  ])("refuses a file whose first line has %s, and makes no store", async (_text, change) => {
    const folder = newFolder();
    const file = join(folder, "a.jsonl");
    const header = {
      format: "fetchwork-documents",
      version: 1,
      createdAt: "",
      engine: "",
      collections: [],
      migrations: [],
      ...change,
    };
    const first = `${JSON.stringify(header)}\n`;
    const sha256 = createHash("sha256").update(first).digest("hex");
    writeFileSync(file, `${first}${JSON.stringify({ documents: 0, sha256 })}\n`);
    const [code, stdout, stderr] = await runDb(["restore", file, "-u", `sqlite:${folder}/b.db`]);
    expect([code, stdout]).toEqual([1, ""]);
    // oxlint-disable-next-line no-control-regex
    expect(stderr).toMatch(/^fetchwork db restore: [^\0-\x1f]+, line 1\n$/);
    expect(existsSync(join(folder, "b.db"))).toBe(false);
  });

  it.each([
    ["of a collection that the first line does not name", { collection: "others" }],
    ["with an id that no store has", { id: "a b" }],
    ["with version 0", { version: 0 }],
    ["with a time that is none", { createdAt: "today" }],
    ["that is not an object", { document: [1] }],
    ["with a field that is kept by the store", { document: { id: "x" } }],
  ])("refuses a document %s, and adds none", async (_text, change) => {
    const folder = newFolder();
    const file = join(folder, "a.jsonl");
    const at = "2026-01-01T00:00:00.000Z";
    const collections = [{ name: "items", unique: [], indexes: [], search: [] }];
    const header = {
      format: "fetchwork-documents",
      version: 1,
      createdAt: at,
      engine: "",
      collections,
      migrations: [],
    };
    const good = {
      collection: "items",
      id: "one",
      version: 1,
      createdAt: at,
      updatedAt: at,
      document: { name: "secret" },
    };
    const text = [header, good, { ...good, id: "two", ...change }]
      .map((line) => `${JSON.stringify(line)}\n`)
      .join("");
    const sha256 = createHash("sha256").update(text).digest("hex");
    writeFileSync(file, `${text}${JSON.stringify({ documents: 2, sha256 })}\n`);
    const to = `sqlite:${folder}/b.db`;
    const [code, , stderr] = await runDb(["restore", file, "-u", to]);
    expect(code).toBe(1);
    expect(stderr).not.toContain("secret");
    await using store = await openStore(to);
    expect(await store.collection(items).find({ deleted: "include" })).toEqual([]);
  });
});
