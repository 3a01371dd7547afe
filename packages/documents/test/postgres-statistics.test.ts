import { describe, expect, it, onTestFinished } from "vitest";
import { administer, defineCollection, openStore } from "../src/index.ts";
import { createStamps } from "../src/document/stamps.ts";
import { readPlanned, type ReadPlan } from "../src/engines/operations/find.ts";
import { selectionTerms, whereSql } from "../src/engines/operations/where.ts";
import { PostgresLayout } from "../src/engines/postgres/statements/layout.ts";
import { quoteText } from "../src/engines/postgres/statements/keys.ts";
import { parseAggregate } from "../src/query/parse-aggregate.ts";
import { parseQuery } from "../src/query/parse-query.ts";
import { newDatabase } from "./open-for-test.ts";
import { postgresVersions, runSql } from "./postgres-server.ts";

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

/** Adds documents as another program would, so many that reading all of them shows. */
const manyDocuments =
  "INSERT INTO articles (id, version, created_at, updated_at, doc) SELECT 'a' || lpad(n::text, 6, '0'), 1, " +
  "'2026-01-01T00:00:00.' || lpad(n::text, 6, '0') || 'Z', '2026-01-01T00:00:00.000Z', " +
  `jsonb_build_object('title', 'title ' || n, 'rank', n, 'author', '{"name":"a"}'::jsonb) ` +
  "FROM generate_series(1, 100000) AS n";

/** Returns how many pages the server visits for a list by a field, in the order of creation. */
async function visitedPages(url: string, where: object): Promise<number> {
  const query = parseQuery({ where, sort: ["-createdAt"], limit: 30 });
  const found = await explain(url, { find: { query, after: undefined } });
  return Number(found["Shared Hit Blocks"]) + Number(found["Shared Read Blocks"]);
}

/** Returns what the server reports of the first statement of a plan. */
async function explain(url: string, plan: ReadPlan): Promise<Record<string, unknown>> {
  const layout = new PostgresLayout(articles, createStamps());
  const { value } = readPlanned(layout, plan).next();
  const { text, values } = Object(value);
  const bound = String(text).replaceAll(
    /\$(\d+)/g,
    (_, place) => `'${[values[place - 1]].join()}'`,
  );
  const [row] = await runSql(url, `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${bound}`);
  const [{ Plan: found }] = Object(row)["QUERY PLAN"];
  return found;
}

describe.each(postgresVersions.filter(([, bin]) => bin !== undefined))(
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
      await administer(store).built();
      await runSql(url, "ANALYZE articles");
      expect(await expectedRows(url, { title: "title 17" })).toBeLessThan(3);
      expect(await expectedRows(url, { title: "nothing" })).toBeLessThan(3);
      expect(await expectedRows(url, { "author.name": "author 7" })).toBeLessThan(10);
      const names = await runSql(url, "SELECT stxname FROM pg_statistic_ext");
      expect(names).toHaveLength(3);
    });

    it("visits few pages for a value that one document has, or none, of 100,000", async () => {
      const url = await newDatabase(bin);
      await (await openStore(url, { collections: [bare] })).close();
      await runSql(url, manyDocuments);
      // A store that exists already gets its statistics, and they are filled, when it is opened.
      const store = await openStore(url, { collections: [articles] });
      await administer(store).built();
      await store.close();
      expect(await visitedPages(url, { title: "title 17" })).toBeLessThan(10);
      expect(await visitedPages(url, { title: "nothing" })).toBeLessThan(10);
    });

    it("reads the newest documents of a common value in order, as explain() says", async () => {
      const url = await newDatabase(bin);
      await (await openStore(url, { collections: [articles] })).close();
      const title = "CASE WHEN n % 5 = 0 THEN 'common' ELSE 'title ' || n END";
      await runSql(url, manyDocuments.replace("'title ' || n", title).replace("100000", "20000"));
      await runSql(url, "ANALYZE articles");
      await using store = await openStore(url, { collections: [articles] });
      const query = { where: { title: "common" }, limit: 30 };
      const said = administer(store).explain(articles, query);
      expect(said).toMatchObject({ scans: false, sorts: false, warnings: [] });
      const found = await explain(url, { find: { query: parseQuery(query), after: undefined } });
      expect(JSON.stringify(found)).not.toMatch(/"(?:Incremental )?Sort"/);
    });

    it("adds up the fields of 100,000 documents without writing files to sort them", async () => {
      const url = await newDatabase(bin);
      await (await openStore(url, { collections: [articles] })).close();
      await runSql(url, manyDocuments);
      await runSql(url, "ANALYZE articles");
      const groups = parseAggregate({ by: "author.name", values: { rank: { sum: "rank" } } });
      expect(await explain(url, { groups })).toMatchObject({ "Temp Written Blocks": 0 });
    });
  },
);
