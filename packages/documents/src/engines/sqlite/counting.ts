import type { ParsedSelection } from "../../query/parse-query.ts";
import { REGISTRY } from "./layout.ts";
import { countNear } from "./reading-near.ts";
import { whereSql } from "./reading.ts";
import type { Reader } from "./session.ts";
import { Expressions } from "./sql.ts";
import type { Table } from "./table.ts";

/** Counts documents, up to `max`; all of them are counted already. */
export function count(
  reader: Reader,
  table: Table,
  { max, ...selection }: ParsedSelection & { readonly max?: number | undefined },
): number {
  if (selection.near !== undefined) {
    return countNear(reader, table, { selection, near: selection.near, max });
  }
  const isAll =
    selection.filter === undefined &&
    selection.words.length === 0 &&
    selection.deleted === "exclude" &&
    table.expiresAt === undefined;
  if (isAll) {
    const row = reader.connection.get(`SELECT documents FROM ${REGISTRY} WHERE name = ?`, [
      table.definition.name,
    ]);
    return Math.min(Number(row?.[0] ?? 0) + reader.uncounted(table), max ?? Infinity);
  }
  const sql = new Expressions(table.indexed, reader.budget);
  const where = whereSql(table, selection, sql);
  const from =
    max === undefined
      ? `${table.quoted}${where}`
      : `(SELECT 1 FROM ${table.quoted}${where} LIMIT ${sql.bind(max)})`;
  return Number(sql.all(reader.connection, `SELECT count(*) FROM ${from}`)[0]?.[0]);
}
