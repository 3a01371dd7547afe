import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { onTestFinished } from "vitest";
import { createStamps } from "../src/document/stamps.ts";
import type { BoundText, Operation, Result } from "../src/engines/operation.ts";
import { quoteName } from "../src/engines/dialect.ts";
import { type Layout, Table } from "../src/engines/layout.ts";
import { runOperation } from "../src/engines/postgres/connections/run-operation.ts";
import type { Session } from "../src/engines/postgres/connections/session.ts";
import { PostgresLayout } from "../src/engines/postgres/statements/layout.ts";
import { Connection } from "../src/engines/sqlite/connection/connection.ts";
import { runReading } from "../src/engines/sqlite/connection/run-operation.ts";
import { SqliteLayout } from "../src/engines/sqlite/statements/layout.ts";
import { compareMembers, membersTable } from "../src/engines/sqlite/statements/members.ts";
import { administer, type CollectionDefinition, openStore } from "../src/index.ts";
import { addChecksumFunction } from "./checksum-function.ts";
import { newDatabase } from "./open-for-test.ts";
import { connectionOf, runSql } from "./postgres-server.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** Documents of a collection, each of which has a number n, counted from 1. */
export interface Filling {
  readonly definition: CollectionDefinition<object>;
  readonly count: number;
  /** The JSON text of document n, in the SQL of both engines. Default: an empty document. */
  readonly document?: string;
  /** The search text of document n, in the SQL of both engines. Default: none. */
  readonly searchText?: string;
}

/** Runs an operation that reads, and returns what it cost in the unit of the engine. */
export type Measure = <R>(
  operation: (layout: Layout) => Operation<R>,
) => Promise<{ readonly cost: number; readonly result: R }>;

/** Fills a collection in SQLite; the cost of a read is the number of rows that SQLite looks at. */
export async function fillSqlite(filling: Filling): Promise<Measure> {
  const { definition, count, document = "'{}'", searchText } = filling;
  const path = join(temporaryFolder(), "a.db");
  await (await openStore(`sqlite:${path}`, { collections: [definition] })).close();
  const database = new DatabaseSync(path);
  onTestFinished(() => {
    database.close();
  });
  const { name } = definition;
  addChecksumFunction(database);
  database.exec(`
    WITH RECURSIVE
      counted(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < ${count}),
      filled(id, version, created_at, updated_at, doc) AS (
        SELECT printf('id%08d', n), 1, printf('2026-01-01T00:%08dZ', n), '2026-01-01', ${document}
        FROM counted
      )
    INSERT INTO "${name}" (id, version, created_at, updated_at, doc, checksum)
    SELECT *, checksum_of(id, version, created_at, updated_at, doc) FROM filled;
    UPDATE "fetchwork:collections" SET documents = ${count} WHERE name = '${name}';`);
  if (searchText !== undefined) {
    database.exec(
      `INSERT INTO "${name}:search" (rowid, text) SELECT n, ${searchText} FROM (SELECT seq AS n FROM "${name}")`,
    );
  }
  for (const field of new Table(definition).listIndexed) {
    const table = membersTable(name, field);
    const { expected } = compareMembers(quoteName(name), table);
    database.exec(`INSERT OR IGNORE INTO ${quoteName(table.name)} ${expected}`);
  }
  let cost = 0;
  database.function("fetchwork_tick", { varargs: true }, () => {
    cost += 1;
    return 1;
  });
  const connection = new Connection(database);
  const layout = new SqliteLayout(definition, createStamps(), { isTimed: true });
  return (operation) => {
    cost = 0;
    const result = runReading(connection, operation(layout));
    return Promise.resolve({ cost, result });
  };
}

/**
 * Fills a collection in PostgreSQL; the cost of a read is the number of pages that the server looks
 * at.
 */
export async function fillPostgres(filling: Filling): Promise<Measure> {
  const { definition, count, document = "'{}'", searchText } = filling;
  const url = await newDatabase();
  const store = await openStore(url, { collections: [definition] });
  await administer(store).built();
  await store.close();
  const columns = searchText === undefined ? "" : ", search";
  const values = searchText === undefined ? "" : `, ${searchText}`;
  await runSql(
    url,
    `INSERT INTO "${definition.name}" (id, version, created_at, updated_at, doc${columns}) ` +
      `SELECT 'id' || lpad(n::text, 8, '0'), 1, '2026-01-01T00:' || lpad(n::text, 8, '0') || 'Z', '2026-01-01', ` +
      `(${document})::jsonb${values} FROM generate_series(1, ${count}) AS n`,
  );
  await runSql(url, `VACUUM ANALYZE "${definition.name}"`);
  const client = new Client(connectionOf(url));
  await client.connect();
  onTestFinished(() => client.end());
  let cost = 0;
  const read = async ({ text, values: bound }: BoundText): Promise<Result> => {
    const explain = `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`;
    const explained = await client.query({ text: explain, values: [...bound] });
    const [{ Plan: plan }] = explained.rows[0]["QUERY PLAN"];
    cost += Number(plan["Shared Hit Blocks"]) + Number(plan["Shared Read Blocks"]);
    const types = { getTypeParser: () => String };
    const { rows } = await client.query({ text, values: [...bound], rowMode: "array", types });
    return { rows, count: rows.length };
  };
  const refuse = (): never => {
    throw new Error("only reads are measured");
  };
  const session: Session = { read, write: refuse, together: refuse };
  const layout = new PostgresLayout(definition, createStamps());
  return async (operation) => {
    cost = 0;
    const result = await runOperation(session, operation(layout));
    return { cost, result };
  };
}

/**
 * Checks that a cost is at most 1.5 times another one; an index of more documents may have one more
 * level.
 */
export function isAbout(cost: number): (other: unknown) => boolean {
  return (other) => Number(other) <= cost * 1.5 + 8;
}
