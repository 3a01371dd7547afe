import { describe, expect, it } from "vitest";
import { defineCollection, openStore } from "../src/index.ts";
import type { BoundText } from "../src/engines/operation.ts";
import { Upkeep } from "../src/engines/postgres/schema/upkeep.ts";
import { newDatabase } from "./open-for-test.ts";
import { noPostgres, runSql } from "./postgres-server.ts";

const notes = defineCollection<{ text: string }>("notes");

describe("The growth of a table", () => {
  it("is looked at after a thousand documents, and each time there are four times as many", async () => {
    const texts: string[] = [];
    const upkeep = new Upkeep(({ text }: BoundText) => {
      texts.push(text);
      return Promise.resolve({ rows: [], count: 0 });
    });
    const looks: number[] = [];
    for (let added = 100; added <= 20_000; added += 100) {
      texts.length = 0;
      for (const work of upkeep.recordInserts("notes", 100)) await work();
      if (texts.some((text) => text.startsWith("ANALYZE"))) looks.push(added);
    }
    expect(looks).toEqual([1000, 4000, 16_000]);
  });

  it.each([
    ["knows none", "-1", ["ANALYZE"]],
    ["knows fewer", "999", ["ANALYZE"]],
    ["knows as many", "1000", []],
  ])("makes the server look at the table that %s", async (_title, known, expected) => {
    const texts: string[] = [];
    const upkeep = new Upkeep(({ text }: BoundText) => {
      texts.push(text.split(" ", 1).join(""));
      return Promise.resolve({ rows: [[known]], count: 1 });
    });
    const [analyze] = upkeep.recordInserts("notes", 1000);
    await analyze?.();
    expect(texts).toEqual(["SELECT", ...expected]);
  });
});

describe.skipIf(noPostgres !== undefined)("The planner of PostgreSQL", () => {
  it("knows of a thousand documents that were added at once", async () => {
    const url = await newDatabase();
    const store = await openStore(url, { collections: [notes] });
    const documents = Array.from({ length: 1000 }, (_, index) => ({ text: `note ${index}` }));
    await store.collection(notes).insertMany(documents);
    await store.close();
    expect(await runSql(url, "SELECT reltuples FROM pg_class WHERE relname = 'notes'")).toEqual([
      { reltuples: 1000 },
    ]);
  });

  it("knows what an index holds that was built over documents", async () => {
    const url = await newDatabase();
    const store = await openStore(url, { collections: [notes] });
    await store.collection(notes).insertMany([{ text: "a" }, { text: "b" }, { text: "b" }]);
    await store.close();
    const indexed = defineCollection<{ text: string }>("notes", { indexes: ["text"] });
    await (await openStore(url, { collections: [indexed] })).close();
    const known =
      "SELECT n_distinct FROM pg_stats WHERE tablename LIKE 'notes:index:%' AND attname <> 'id'";
    expect(await runSql(url, known)).toHaveLength(1);
  });
});
