import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { createStamps } from "../src/document/stamps.ts";
import type { BoundText, Result } from "../src/engines/operation.ts";
import { type ReadPlan, readPlanned, type ReadResult } from "../src/engines/operations/find.ts";
import { runOperation } from "../src/engines/postgres/connections/run-operation.ts";
import type { Session } from "../src/engines/postgres/connections/session.ts";
import { PostgresLayout } from "../src/engines/postgres/statements/layout.ts";
import { Connection } from "../src/engines/sqlite/connection/connection.ts";
import { runReading } from "../src/engines/sqlite/connection/run-operation.ts";
import { SqliteLayout } from "../src/engines/sqlite/statements/layout.ts";
import { defineCollection, openStore } from "../src/index.ts";
import { parseCount, parseQuery } from "../src/query/parse-query.ts";
import { newDatabase } from "./open-for-test.ts";
import { connectionOf, NO_POSTGRES, runSql } from "./postgres-server.ts";
import { propertyRuns } from "./property-runs.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const notes = defineCollection<{ text: string }>("notes", { search: ["text"] });
const sizes = { small: 10_000, large: propertyRuns(60_000, 200_000) };

/** The search text of document n, in the SQL of both engines. */
const searchText =
  "'  note' || CASE WHEN n % 4 = 0 THEN '  harbour' ELSE '  ship' END || " +
  "CASE WHEN n <= 2000 THEN '  oldies' ELSE '' END || CASE WHEN n = 5007 THEN '  zq  unicorn' ELSE '' END";

/** A page of a search and its count, as a list of an API asks for them. */
function planOf(q: string): ReadPlan {
  const query = parseQuery({ q, limit: 30 });
  return { find: { query, after: undefined }, count: parseCount({ q, max: 1001 }) };
}

/** What carrying out a plan cost, in rows or in pages. */
type Measure = (plan: ReadPlan) => Promise<{ readonly cost: number; readonly result: ReadResult }>;

/** Counts rows by the function that limits the time of reads. */
async function fillSqlite(count: number): Promise<Measure> {
  const path = join(temporaryFolder(), "a.db");
  await (await openStore(`sqlite:${path}`, { collections: [notes] })).close();
  const database = new DatabaseSync(path);
  onTestFinished(() => {
    database.close();
  });
  database.exec(`
    WITH RECURSIVE counted(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < ${count})
    INSERT INTO notes (id, version, created_at, updated_at, doc)
    SELECT printf('id%08d', n), 1, printf('2026-01-01T00:%08dZ', n), '2026-01-01', '{}' FROM counted;
    INSERT INTO "notes:search" (rowid, text) SELECT n, ${searchText} FROM (SELECT seq AS n FROM notes);`);
  let cost = 0;
  database.function("fetchwork_tick", { varargs: true }, () => {
    cost += 1;
    return 1;
  });
  const connection = new Connection(database);
  const layout = new SqliteLayout(notes, createStamps());
  return (plan) => {
    cost = 0;
    const result = runReading(connection, readPlanned(layout, plan, { isTimed: true }));
    return Promise.resolve({ cost, result });
  };
}

/** Counts pages that the server looks at. */
async function fillPostgres(count: number): Promise<Measure> {
  const url = await newDatabase();
  await (await openStore(url, { collections: [notes] })).close();
  await runSql(
    url,
    "INSERT INTO notes (id, version, created_at, updated_at, doc, search) SELECT 'id' || lpad(n::text, 8, '0'), 1, " +
      `'2026-01-01T00:' || lpad(n::text, 8, '0') || 'Z', '2026-01-01', '{}', ${searchText} ` +
      `FROM generate_series(1, ${count}) AS n`,
  );
  await runSql(url, "VACUUM ANALYZE notes");
  const client = new Client(connectionOf(url));
  await client.connect();
  onTestFinished(() => client.end());
  let cost = 0;
  const read = async ({ text, values }: BoundText): Promise<Result> => {
    const explain = `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`;
    const explained = await client.query({ text: explain, values: [...values] });
    const [{ Plan: plan }] = explained.rows[0]["QUERY PLAN"];
    cost += Number(plan["Shared Hit Blocks"]) + Number(plan["Shared Read Blocks"]);
    const { rows } = await client.query({ text, values: [...values], rowMode: "array" });
    return { rows, count: rows.length };
  };
  const refuse = (): never => {
    throw new Error("a search only reads");
  };
  const session: Session = { read, write: refuse, together: refuse };
  const layout = new PostgresLayout(notes, createStamps());
  return async (plan) => {
    cost = 0;
    const result = await runOperation(session, readPlanned(layout, plan, { isTimed: false }));
    return { cost, result };
  };
}

describe.each([
  ["SQLite", "rows", fillSqlite],
  ["PostgreSQL", "pages", fillPostgres],
] as const)("The search of %s", (engine, unit, fill) => {
  it.skipIf(engine === "PostgreSQL" && NO_POSTGRES !== undefined)(
    `looks at as many ${unit} of ${sizes.large} documents as of ${sizes.small}`,
    async () => {
      const [small, large] = [await fill(sizes.small), await fill(sizes.large)];
      for (const [q, count] of [
        ["unicorn", 1],
        ["nothing", 0],
        ["harbour", 1001],
        ["no", 1001],
        ["n", 1001],
        ["zq", 1],
      ] as const) {
        const [few, many] = [await small(planOf(q)), await large(planOf(q))];
        expect([q, few.result.count, many.result.count]).toEqual([q, count, count]);
        expect(many.result.rows).toHaveLength(Math.min(count, 30));
        expect([q, few.cost, many.cost]).toEqual([
          q,
          few.cost,
          expect.toSatisfy(isAbout(few.cost)),
        ]);
      }
      // Common words far from the begin of the order: 10,600 documents are walked twice in vain.
      const { cost, result } = await large(planOf("oldies"));
      expect(result.rows.map(([id]) => id)).toEqual(
        Array.from({ length: 30 }, (_, place) => `id${String(2000 - place).padStart(8, "0")}`),
      );
      expect(cost).toBeLessThan(30_000);
    },
  );
});

/** An index of more documents may have one more level. */
function isAbout(cost: number): (other: unknown) => boolean {
  return (other) => Number(other) <= cost * 1.5 + 8;
}
