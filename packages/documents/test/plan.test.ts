import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { type CollectionDefinition, defineCollection, openStore } from "../src/index.ts";
import { partsAfter } from "../src/query/keyset.ts";
import { parseNear } from "../src/geo/near.ts";
import { parseCount, parseQuery } from "../src/query/parse-query.ts";
import { createStamps } from "../src/document/stamps.ts";
import type { Value } from "../src/engines/operation.ts";
import { selectionTerms, whereSql } from "../src/engines/operations/where.ts";
import { SqliteLayout } from "../src/engines/sqlite/statements/layout.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const posts = defineCollection("posts", {
  unique: ["slug", ["blog", "number"]],
  indexes: ["views", ["role", "name"], "author.id", "x'y\"z"],
  search: ["title"],
});

function layoutOf(definition: CollectionDefinition<unknown>): SqliteLayout {
  return new SqliteLayout(definition, createStamps());
}

function explain(
  path: string,
  { text, values }: { readonly text: string; readonly values: readonly Value[] },
): string {
  const database = new DatabaseSync(path);
  const cells = values.filter((value) => typeof value !== "object");
  const rows = database.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...cells);
  database.close();
  return rows.map((row) => row["detail"]).join("\n");
}

async function plan(query: object): Promise<string> {
  const path = join(temporaryFolder(), "a.db");
  await (await openStore(`sqlite:${path}`, { collections: [posts] })).close();
  const parsed = parseQuery(query);
  const layout = layoutOf(posts);
  const sql = layout.begin();
  const where = whereSql(selectionTerms(layout, parsed, sql));
  const text = `SELECT doc FROM posts${where} ORDER BY ${sql.order(parsed.order)}`;
  return explain(path, { text, values: sql.values });
}

describe("The query planner", () => {
  it.each([
    ["the default order", {}, "posts:created"],
    ["an ascending order by time", { sort: ["createdAt"] }, "posts:created"],
    ["a declared field's order", { sort: ["views"] }, 'posts:index:["views"]'],
    ["the reverse of it", { sort: ["-views"] }, 'posts:index:["views"]'],
    ["an order by two fields", { sort: ["role", "name"] }, 'posts:index:["role","name"]'],
    [
      "the rest of an index",
      { where: { role: "a" }, sort: ["name"] },
      'posts:index:["role","name"]',
    ],
    [
      "a range in its order",
      { where: { views: { gt: 5 } }, sort: ["-views"] },
      'posts:index:["views"]',
    ],
  ])("serves %s from an index, without sorting", async (_text, query, index) => {
    const text = await plan(query);
    expect(text).toContain(`USING INDEX ${index}`);
    expect(text).not.toContain("TEMP B-TREE");
  });

  it.each([
    ["equality", { views: 5 }, '["views"] (<expr>=?)'],
    ["equality with true", { views: true }, '["views"] (<expr>=?)'],
    ["equality with a fraction", { views: 0.1 }, '["views"] (<expr>=?)'],
    ["a list", { views: { in: [2, 3] } }, '["views"] (<expr>=?)'],
    ["null", { views: null }, '["views"] (<expr>=?)'],
    ["a range", { views: { gte: 2, lt: 9 } }, '["views"] (<expr>>? AND <expr><?)'],
    ["a lower bound", { views: { gte: 2 } }, '["views"] (<expr>>? AND <expr><?)'],
    ["a prefix", { "author.id": { prefix: "ab" } }, '["author.id"] (<expr>>? AND <expr><?)'],
    ["a quoted name", { "x'y\"z": 5 }, "(<expr>=?)"],
    ["a unique field", { slug: "a" }, 'unique:["slug"] (<expr>=?)'],
    ["two fields", { blog: 1, number: 2 }, 'unique:["blog","number"] (<expr>=? AND <expr>=?)'],
    ["a time", { createdAt: { gte: "2026" } }, "posts:created (created_at>?)"],
    ["an id", { id: "x" }, "(id=?)"],
  ])("searches an index for %s", async (_text, where, expected) => {
    const text = await plan({ where });
    expect(text).toContain(expected);
    expect(text).not.toContain("SCAN posts");
  });

  it.each([
    ["createdAt", ["2026-01-01", "x"]],
    ["-createdAt", ["2026-01-01", "x"]],
    ["views", [5, "x"]],
    ["-views", [5, "x"]],
    ["-views", [null, "x"]],
    ["views", [null, "x"]],
  ])("searches and never sorts for what comes behind a cursor by %s", async (key, values) => {
    const path = join(temporaryFolder(), "a.db");
    await (await openStore(`sqlite:${path}`, { collections: [posts] })).close();
    const parsed = parseQuery({ sort: [key] });
    const layout = layoutOf(posts);
    const parts = partsAfter(parsed.order, values, layout);
    expect(parts.length).toBeGreaterThan(0);
    for (const part of parts) {
      const sql = layout.begin();
      const where = whereSql(selectionTerms(layout, { ...parsed, part }, sql));
      const statement = `SELECT doc FROM posts${where} ORDER BY ${sql.order(part.order)}`;
      const text = explain(path, { text: statement, values: sql.values });
      expect(text).toMatch(/SEARCH posts USING INDEX posts:(created|index)/);
      expect(text).not.toContain("TEMP B-TREE");
    }
  });

  it("gets one statement for all fields without an index", () => {
    const statement = (field: string): string => {
      const parsed = parseQuery({ where: { [field]: { gte: 1, ne: true } }, sort: [`-${field}`] });
      const layout = layoutOf(posts);
      const sql = layout.begin();
      return whereSql(selectionTerms(layout, parsed, sql)) + sql.order(parsed.order);
    };
    expect(statement("one")).toBe(statement("an.other"));
  });

  it("searches the cells near to a place, and reads the documents that are found there", async () => {
    const path = join(temporaryFolder(), "a.db");
    const shops = defineCollection("shops", { geo: ["at"] });
    await (await openStore(`sqlite:${path}`, { collections: [shops] })).close();
    const near = { field: "at", latitude: 52.5, longitude: 13.4, maxDistance: 1000 };
    const selection = parseCount({ near });
    const reach = selection.near?.highest ?? 0;
    const search = { selection, near: parseNear(near), reach };
    const text = explain(path, layoutOf(shops).geo.select(search, 5, 0));
    expect(text).toContain("SEARCH shops:geo USING PRIMARY KEY (field=? AND cell>? AND cell<?)");
    expect(text).toContain("SEARCH shops USING INTEGER PRIMARY KEY (rowid=?)");
  });

  it("looks words up in the trigram index", async () => {
    expect(await plan({ q: "word" })).toMatch(/posts:search VIRTUAL TABLE INDEX 0:M/);
  });
});
