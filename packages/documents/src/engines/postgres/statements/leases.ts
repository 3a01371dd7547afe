import type { Claiming, Held, Layout } from "../../layout.ts";
import type { Operation, Row } from "../../operation.ts";
import { selectionTerms, whereSql } from "../../operations/where.ts";
import { claimedColumns } from "./columns.ts";
import type { PostgresDialect } from "./dialect.ts";

/** A collection whose leases are columns of its table. */
export interface LeasedTable extends Layout {
  begin(): PostgresDialect;
}

/** Claims documents; skips those that another process is claiming right now, without waiting. */
export function* claimRows(
  layout: LeasedTable,
  { query, now, until }: Claiming,
): Operation<readonly Row[]> {
  const sql = layout.begin();
  const terms = [...selectionTerms(layout, query, sql), freeSql(now, sql)];
  const { rows } = yield sql.write(
    `WITH picked AS (SELECT id FROM ${layout.quoted}${whereSql(terms)} ` +
      `ORDER BY ${sql.order(query.order)}${sql.page(query.limit ?? 1, 0)} FOR UPDATE SKIP LOCKED), ` +
      "numbered AS (SELECT id, row_number() OVER () AS place FROM picked) " +
      `UPDATE ${layout.quoted} AS claimed SET ${leaseSql(until, sql, "gen_random_uuid()::text")} ` +
      `FROM numbered WHERE claimed.id = numbered.id RETURNING ${claimedColumns}, numbered.place`,
  );
  return rows.toSorted((left, right) => Number(left[8]) - Number(right[8]));
}

/** Extends a lease that is held. */
export function* renewLease(
  layout: LeasedTable,
  { id, token }: Held,
  until: number,
): Operation<boolean> {
  const sql = layout.begin();
  const { count } = yield sql.write(
    `UPDATE ${layout.quoted} SET lease_until = ${sql.bind(until, "bigint")} ` +
      `WHERE id = ${sql.bind(possibleText(id), "text")} AND ${isHeldSql(token, sql)}`,
  );
  return count === 1;
}

/** Ends a lease that is held. */
export function* releaseLease(layout: LeasedTable, { id, token }: Held): Operation<boolean> {
  const sql = layout.begin();
  const { count } = yield sql.write(
    `UPDATE ${layout.quoted} SET lease_token = NULL, lease_until = NULL, lease_attempt = 0 ` +
      `WHERE id = ${sql.bind(possibleText(id), "text")} AND ${isHeldSql(token, sql)}`,
  );
  return count === 1;
}

/** Writes the condition that the lease of a row is held. */
export function isHeldSql(token: string, sql: PostgresDialect): string {
  const held = sql.bind(possibleText(token), "text");
  return `(lease_token = ${held} AND lease_until > ${sql.bind(Date.now(), "bigint")})`;
}

/** Writes the condition that nobody holds a lease of a row. */
export function freeSql(now: number, sql: PostgresDialect): string {
  return `(lease_until IS NULL OR lease_until <= ${sql.bind(now, "bigint")})`;
}

/** Writes the columns of a lease. */
export function leaseSql(until: number, sql: PostgresDialect, token: string): string {
  const end = sql.bind(until, "bigint");
  return `lease_token = ${token}, lease_until = ${end}, lease_attempt = lease_attempt + 1`;
}

/** PostgreSQL refuses a text with U+0000; nothing is found by an empty one. */
function possibleText(text: string): string {
  return text.includes("\0") ? "" : text;
}
