import { randomUUID } from "node:crypto";
import type { Claiming, Held, Layout } from "../../layout.ts";
import type { Operation, Row } from "../../operation.ts";
import { selectionTerms, whereSql } from "../../operations/where.ts";
import type { SqliteDialect } from "./dialect.ts";
import { leasesTable } from "./tables.ts";

/** Claims documents whose lease nobody holds. */
export function* claimRows(
  layout: Layout,
  { query, now, until }: Claiming,
): Operation<readonly Row[]> {
  const { name } = layout.definition;
  const sql = layout.begin();
  const terms = [...selectionTerms(layout, query, sql)];
  terms.push(
    `NOT EXISTS (SELECT 1 FROM ${leasesTable} AS held WHERE held.collection = ${sql.bind(name, "text")} ` +
      `AND held.id = ${layout.quoted}.id AND held.until > ${sql.bind(now, "bigint")})`,
  );
  const { rows } = yield sql.read(
    `SELECT ${layout.columns} FROM ${layout.quoted}${whereSql(terms)} ` +
      `ORDER BY ${sql.order(query.order)}${sql.page(query.limit ?? 1, 0)}`,
  );
  const claimed: Row[] = [];
  for (const row of rows) {
    const token = randomUUID();
    const { rows: leases } = yield {
      kind: "read",
      text:
        `INSERT INTO ${leasesTable} (collection, id, token, until, attempt) VALUES (?, ?, ?, ?, 1) ` +
        "ON CONFLICT DO UPDATE SET token = excluded.token, until = excluded.until, " +
        "attempt = attempt + 1 RETURNING attempt",
      values: [name, row[0] ?? null, token, until],
    };
    claimed.push([...row.slice(0, 6), token, leases[0]?.[0] ?? null]);
  }
  return claimed;
}

/** Extends a lease that is held. */
export function* renewLease(
  { definition }: Layout,
  { id, token }: Held,
  until: number,
): Operation<boolean> {
  const { count } = yield {
    kind: "write",
    text: `UPDATE ${leasesTable} SET until = ? WHERE collection = ? AND id = ? AND token = ? AND until > ?`,
    values: [until, definition.name, id, token, Date.now()],
  };
  return count === 1;
}

/** Ends a lease that is held. */
export function* releaseLease({ definition }: Layout, { id, token }: Held): Operation<boolean> {
  const { count } = yield {
    kind: "write",
    text: `DELETE FROM ${leasesTable} WHERE collection = ? AND id = ? AND token = ? AND until > ?`,
    values: [definition.name, id, token, Date.now()],
  };
  return count === 1;
}

/** Writes the condition that the lease of a row is held. */
export function isHeldSql(
  { definition, quoted }: Layout,
  token: string,
  sql: SqliteDialect,
): string {
  return (
    `EXISTS (SELECT 1 FROM ${leasesTable} AS held WHERE held.collection = ` +
    `${sql.bind(definition.name)} AND held.id = ${quoted}.id ` +
    `AND held.token = ${sql.bind(token)} AND held.until > ${sql.bind(Date.now())})`
  );
}
