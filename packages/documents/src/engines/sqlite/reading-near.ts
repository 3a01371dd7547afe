import { cellOf } from "../../geo/geo-cell.ts";
import {
  cellsWithin,
  growingReach,
  type ParsedNear,
  placeOfField,
  sampleSize,
} from "../../geo/near.ts";
import type { Vector } from "../../geo/position.ts";
import type { SortValue } from "../../query/keyset.ts";
import type { ParsedQuery, ParsedSelection } from "../../query/parse-query.ts";
import type { Row } from "./connection.ts";
import { whereSql } from "./reading.ts";
import type { Reader } from "./session.ts";
import { Expressions } from "./sql.ts";
import type { Table } from "./table.ts";

/** What is looked for, and where. */
interface Search {
  readonly near: ParsedNear;
  readonly selection: ParsedSelection;
  /** The greatest distance of this attempt, as the square of a chord. */
  readonly reach: number;
  readonly after?: readonly SortValue[] | undefined;
}

/**
 * Selects documents by their distance from a place, and sorts them by it. The last column is the
 * square of the distance, which a cursor holds.
 */
export function selectNear(
  reader: Reader,
  table: Table,
  {
    query,
    near,
    after,
  }: {
    readonly query: ParsedQuery;
    readonly near: ParsedNear;
    readonly after?: readonly SortValue[] | undefined;
  },
): readonly Row[] {
  const { limit, offset } = query;
  let rows: readonly Row[] = [];
  for (const reach of reaches(reader, table, { query, near, after })) {
    const sql = new Expressions(table.indexed, reader.budget);
    const inner = nearSql(table, { selection: query, near, reach, after }, sql);
    // The documents are read when it is known which ones they are.
    rows = sql.all(
      reader.connection,
      `SELECT ${table.columns}, square FROM (SELECT seq AS found, id AS name, square ${inner} ` +
        `ORDER BY square, id LIMIT ${sql.bind(limit ?? -1)} OFFSET ${sql.bind(offset)}) ` +
        `CROSS JOIN ${table.quoted} ON seq = found ORDER BY square, name`,
    );
    if (rows.length === limit) break;
  }
  return rows;
}

/** Counts documents between two distances from a place, up to `max`. */
export function countNear(
  { connection, budget }: Reader,
  table: Table,
  {
    selection,
    near,
    max,
  }: {
    readonly selection: ParsedSelection;
    readonly near: ParsedNear;
    readonly max: number | undefined;
  },
): number {
  const sql = new Expressions(table.indexed, budget);
  const inner = nearSql(table, { selection, near, reach: near.greatest }, sql);
  const text = `SELECT count(*) FROM (SELECT 1 ${inner} LIMIT ${sql.bind(max ?? -1)})`;
  return Number(sql.all(connection, text)[0]?.[0]);
}

function reaches(
  { connection }: Reader,
  table: Table,
  {
    query: { filter, words, deleted, limit, offset },
    near,
    after,
  }: {
    readonly query: ParsedQuery;
    readonly near: ParsedNear;
    readonly after?: readonly SortValue[] | undefined;
  },
): Iterable<number> {
  const field = placeOfField(table.definition, near);
  if (limit === undefined) return [near.greatest];
  const needed = limit + offset;
  const cell = cellOf(near.position);
  const read = (condition: string): readonly Vector[] =>
    connection
      .all(`SELECT x, y, z FROM ${table.quotedGeo} WHERE field = ? AND ${condition} LIMIT ?`, [
        field,
        cell,
        sampleSize(needed),
      ])
      .map(([x, y, z]) => ({ x: Number(x), y: Number(y), z: Number(z) }));
  const sample = [...read("cell >= ? ORDER BY cell"), ...read("cell < ? ORDER BY cell DESC")];
  const isFiltered = filter !== undefined || words.length > 0 || deleted === "only";
  return growingReach(near, { needed, behind: Number(after?.[0] ?? 0), sample, isFiltered });
}

/** Writes FROM and WHERE; the columns are those of the documents, and `square`. */
export function nearSql(
  table: Table,
  { near, selection, reach, after }: Search,
  sql: Expressions,
): string {
  const field = placeOfField(table.definition, near);
  const { x, y, z } = near.vector;
  const part = (axis: string, value: number): string => {
    const difference = `(${axis} - ${sql.bind(value)})`;
    return `${difference} * (${axis} - ${sql.bind(value)})`;
  };
  const square = `${part("x", x)} + ${part("y", y)} + ${part("z", z)} AS square`;
  const cells = cellsWithin(near, reach);
  let places: string;
  if (cells === undefined) {
    // The plus keeps the planner from taking the field for a condition that few rows meet.
    places = `(SELECT document, ${square} FROM ${table.quotedGeo} WHERE +field = ${sql.bind(field)})`;
  } else {
    const ranges = JSON.stringify(cells.map(({ low, high }) => [low, high]));
    places =
      `(SELECT document, ${square} FROM (SELECT value ->> 0 AS low, value ->> 1 AS high ` +
      `FROM json_each(${sql.bind(ranges)})) CROSS JOIN ${table.quotedGeo} ` +
      `ON field = ${sql.bind(field)} AND cell BETWEEN low AND high)`;
  }
  const terms = [
    ...sql.ticks("document"),
    `square >= ${sql.bind(near.least)}`,
    `square <= ${sql.bind(reach)}`,
  ];
  if (after !== undefined) {
    const [behind = null, id = null] = after;
    terms.push(`(square, id) > (${sql.bind(behind)}, ${sql.bind(id)})`);
  }
  const where = whereSql(table, selection, sql);
  const rest = where === "" ? "" : ` AND (${where.slice(" WHERE ".length)})`;
  return `FROM ${places} JOIN ${table.quoted} ON seq = document WHERE ${terms.join(" AND ")}${rest}`;
}
