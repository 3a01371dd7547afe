import { describe, expect, it, onTestFinished } from "vitest";
import { defineCollection, openStore } from "../src/index.ts";
import { createStamps } from "../src/document/stamps.ts";
import { selectionTerms, whereSql } from "../src/engines/operations/where.ts";
import { PostgresLayout } from "../src/engines/postgres/statements/layout.ts";
import { quoteText } from "../src/engines/postgres/statements/keys.ts";
import { parseQuery } from "../src/query/parse-query.ts";
import { newDatabase } from "./open-for-test.ts";
import { POSTGRES, runSql } from "./postgres-server.ts";

interface Article {
  title: string;
  author: { name: string };
  rank: number;
}

const bare = defineCollection<Article>("articles");
const articles = defineCollection<Article>("articles", {
  indexes: ["title", ["author.name", "rank"], "createdAt"],
  softDelete: true,
});

const documents = Array.from({ length: 5000 }, (_, index) => ({
  title: `title ${index}`,
  author: { name: `author ${index % 1000}` },
  rank: index,
}));

/** Returns how many rows the server expects a filter to find. */
async function expectedRows(url: string, where: object): Promise<number> {
  const layout = new PostgresLayout(articles, createStamps());
  const sql = layout.begin();
  const text = whereSql(selectionTerms(layout, parseQuery({ where }), sql));
  const bound = text.replaceAll(/\$(\d+)/g, (_, place) => {
    const value = sql.values[place - 1];
    return typeof value === "string" ? quoteText(value) : "NULL";
  });
  const { text: statement } = sql.read(`EXPLAIN (FORMAT JSON) SELECT id FROM articles${bound}`);
  const [row] = await runSql(url, statement);
  const [plan] = Object(row)["QUERY PLAN"];
  return plan.Plan["Plan Rows"];
}

describe.each(POSTGRES.filter(([, bin]) => bin !== undefined))(
  "The planner of %s",
  (_engine, bin) => {
    it.each([
      ["that are declared from the start", articles],
      ["that are declared when there are documents", bare],
    ])("knows how rare the values of fields are %s", async (_title, first) => {
      const url = await newDatabase(bin);
      const before = await openStore(url, { collections: [first] });
      await before.collection(first).insertMany(documents);
      await before.close();
      const store = await openStore(url, { collections: [articles] });
      onTestFinished(() => store.close());
      await runSql(url, "ANALYZE articles");
      expect(await expectedRows(url, { title: "title 17" })).toBeLessThan(3);
      expect(await expectedRows(url, { title: "nothing" })).toBeLessThan(3);
      expect(await expectedRows(url, { "author.name": "author 7" })).toBeLessThan(10);
      const names = await runSql(url, "SELECT stxname FROM pg_statistic_ext");
      expect(names).toHaveLength(3);
    });
  },
);
