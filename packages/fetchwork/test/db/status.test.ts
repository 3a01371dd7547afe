import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openStore } from "@fetchwork/documents";
import { describe, expect, it } from "vitest";
import { newDatabase } from "../../../documents/test/open-for-test.ts";
import { noPostgres, runSql } from "../../../documents/test/postgres-server.ts";
import { progressCollection, shownUrl } from "@fetchwork/service/internal";
import { allDefinitions, allEngines, newFolder, runDb } from "./db-world.ts";
import { items, migrations, others } from "./shop-definitions.ts";

describe("fetchwork db status", () => {
  it("requires a store URL", async () => {
    expect(await runDb(["status"])).toMatchObject([2, "", expect.stringContaining("--url")]);
  });

  it("does not create a missing store", async () => {
    const folder = newFolder();
    const [code, , stderr] = await runDb(["status", "--url", "sqlite:a.db"], { cwd: folder });
    expect([code, stderr]).toEqual([
      1,
      `fetchwork db status: sqlite:${folder}/a.db is not there\n`,
    ]);
    expect(existsSync(join(folder, "a.db"))).toBe(false);
  });

  it.skipIf(noPostgres !== undefined)(
    "writes nothing into a database without a store",
    async () => {
      const url = await newDatabase();
      for (const args of [
        ["status"],
        ["migrate", "--dry-run", "-d", allDefinitions],
        ["backup", "b"],
      ]) {
        const [code, stdout, stderr] = await runDb([...args, "-u", url], { cwd: newFolder() });
        if (args[0] === "migrate")
          expect([code, stdout]).toMatchObject([
            0,
            expect.stringContaining("collection items: will be"),
          ]);
        else expect([code, stderr]).toMatchObject([1, expect.stringContaining("no store at")]);
      }
      const tables = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace";
      expect(await runSql(url, tables)).toEqual([]);
    },
  );

  it("knows the collection in which migrations note how far they ran", async () => {
    const folder = newFolder();
    const url = `sqlite:${folder}/a.db`;
    const store = await openStore(url, {
      collections: [items, ...others, progressCollection],
      migrations,
    });
    await store.close();
    const [code, stdout] = await runDb(["status", "-d", allDefinitions, "-u", url]);
    expect([code, stdout]).toEqual([0, expect.not.stringContaining("has no definition")]);
  });

  it.each([
    ["nowhere.ts", undefined, "% does not exist"],
    ["folder", undefined, "% does not exist"],
    ["broken.ts", 'import "./gone.ts";', "cannot run %: it imports "],
    ["alone.ts", 'import "no-such-package";', "cannot run %: it imports no-such-package, which"],
    ["failing.ts", "throw new Error('no luck')", "cannot run %: no luck"],
  ])("rejects the module %s with a message of the command", async (name, text, message) => {
    const cwd = newFolder();
    if (text !== undefined) writeFileSync(join(cwd, name), text);
    else mkdirSync(join(cwd, "folder"));
    const [code, , stderr] = await runDb(["status", "-u", "sqlite:a.db", "-d", name], { cwd });
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`fetchwork db status: ${message.replace("%", join(cwd, name))}`),
    ]);
    expect(stderr).not.toMatch(/Cannot find|Directory import|ENOENT/);
  });

  it("names pending migrations of a service, and exits with 3 until they ran", async () => {
    const folder = newFolder();
    const url = `sqlite:${folder}/a.db`;
    await (await openStore(url)).close();
    const module = join(folder, "app.mjs");
    const service = `{ name: "shop", collections: [{ name: "items", unique: [], indexes: [], search: [] }], options: { migrations: [{ id: 1, name: "fill a field", changes: [] }] } }`;
    writeFileSync(module, `export const app = ${service};\n`);
    const definitions = ["-d", module, "-u", url];
    const status = await runDb(["status", ...definitions]);
    expect(status).toMatchObject([3, expect.stringContaining("migration 1: fill a field"), ""]);
    const [code, , stderr] = await runDb(["migrate", ...definitions]);
    expect([code, stderr]).toEqual([0, "fetchwork migrate run runs src/migrations\n"]);
    const applied = [{ id: 1, name: "fill a field", up: () => undefined }];
    await (await openStore(url, { migrations: applied })).close();
    expect(await runDb(["status", ...definitions])).toMatchObject([0, expect.anything(), ""]);
  });

  it("rejects a module without definitions", async () => {
    const [code, , stderr] = await runDb(["status", "-u", "sqlite:a.db", "-d", "db-world.ts"], {
      cwd: import.meta.dirname,
    });
    expect([code, stderr]).toEqual([
      1,
      "fetchwork db status: db-world.ts must export at least one collection definition\n",
    ]);
  });

  it.each([
    ["postgres://ann:s3cret@db.example/shop?sslmode=require", "postgres://db.example/shop"],
    ["postgres://ann:s3@cret@db/shop", "postgres://db/shop"],
    ["postgres://:s3cret@db/shop", "postgres://db/shop"],
    ["s3cret", "the store"],
  ])("shows no password of %s", (url, shown) => {
    expect(shownUrl(url)).toBe(shown);
  });

  it("shows no password of an invalid URL", async () => {
    const url = "postgres://ann:s3cret@127.0.0.1:99999/shop";
    const [code, stdout, stderr] = await runDb(["status"], { env: { DATABASE_URL: url } });
    expect(code).toBe(1);
    expect(stdout + stderr).not.toContain("s3cret");
  });

  it.each([
    "postgres://ann:s3cret@127.0.0.1/shop?sslmode=bogus",
    "postgres://ann:s3cret",
    "postgres://ann:s3cret@/a?host=../s3cret",
    "mysql://ann:s3cret@127.0.0.1/shop",
    "//ann:s3cret@127.0.0.1/shop",
  ])("nor does any other command show it, when the URL is %j", async (url) => {
    const cwd = newFolder();
    await (await openStore(`sqlite:${cwd}/a.db`)).close();
    for (const args of [
      ["status"],
      ["migrate", "-d", allDefinitions],
      ["migrate", "--dry-run", "-d", allDefinitions],
      ["backup", "a.jsonl"],
    ]) {
      const env = { DATABASE_URL: url };
      const [code, stdout, stderr] = await runDb(args, { cwd, env });
      expect([1, 2]).toContain(code);
      expect(stdout + stderr).not.toContain("s3cret");
    }
  });

  it.each(allEngines)(
    "exits 3 with what is pending on %s, and 0 when nothing is",
    async (...engine) => {
      const url = await engine[1]();
      await (await openStore(url)).close();
      const args = ["status", "--url", url, "--definitions", allDefinitions];
      const [pending, text] = await runDb(args);
      expect(pending).toBe(3);
      expect(text).toContain("pending  migration 1: give every item a price\n");
      expect(text).toContain("pending  collection items: will be created\n");
      const store = await openStore(url, { collections: [items, ...others], migrations });
      await store.collection(items).insert({ name: "pen" });
      await store.close();
      const [done, report] = await runDb(args);
      expect([done, report]).toMatchObject([0, expect.stringContaining("collection items: 1 doc")]);
      expect(report.match(/index .*/g)).toEqual(["index (name) present", "index (price) present"]);
      expect(report).toContain("migration 1: give every item a price applied 20");
      const [code, json] = await runDb([...args, "--json"]);
      expect(code).toBe(0);
      expect(JSON.parse(json)).toMatchObject({
        url: shownUrl(url),
        collections: [
          { name: "items", documents: 1 },
          { name: "orders", documents: 0 },
        ],
        migrations: [{ id: 1 }],
        steps: [],
        pending: false,
      });
    },
    60_000,
  );

  it("escapes control sequences in names from the file", async () => {
    const path = join(newFolder(), "a.db");
    const url = `sqlite:${path}`;
    await (await openStore(url, { collections: [items], migrations })).close();
    const database = new DatabaseSync(path);
    const name = "\u001b[2J\u009b2J\u202e";
    database.prepare('UPDATE "fetchwork:collections" SET name = ?').run(name);
    database.prepare('UPDATE "fetchwork:migrations" SET name = ?, at = ?').run(name, name);
    database.close();
    for (const args of [["status"], ["status", "--json"]]) {
      const [code, stdout, stderr] = await runDb([...args, "-u", url]);
      expect(code).toBe(0);
      // oxlint-disable-next-line no-control-regex
      expect(stdout + stderr).not.toMatch(/[\u001b\u009b\u202e]/);
    }
  });
});
