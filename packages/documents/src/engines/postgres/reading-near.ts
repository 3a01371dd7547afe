import type { Stored } from "../../api/document.ts";
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
import { geoPart } from "./geo-column.ts";
import { whereSql } from "./reading.ts";
import type { Row } from "./row-query.ts";
import { DOCUMENT_COLUMNS, toStored } from "./row.ts";
import type { Session } from "./session.ts";
import { Parameters } from "./sql.ts";
import type { Table } from "./table.ts";

/** A document and the square of its distance, which a cursor holds. */
export interface Neighbour<T> {
  readonly document: Stored<T>;
  readonly square: number;
}

/** What is looked for, and where. */
interface Search {
  readonly near: ParsedNear;
  readonly selection: ParsedSelection;
  /** The greatest distance of this attempt, as the square of a chord. */
  readonly reach: number;
  readonly after?: readonly SortValue[] | undefined;
}

/** A query by distance, with the values of its cursor. */
interface NearQuery {
  readonly query: ParsedQuery;
  readonly near: ParsedNear;
  readonly after?: readonly SortValue[] | undefined;
}

/** Selects documents by their distance from a place, and sorts them by it. */
export async function findNear<T>(
  session: Session,
  table: Table,
  { query, near, after }: NearQuery,
): Promise<readonly Neighbour<T>[]> {
  const { limit, offset } = query;
  let rows: readonly Row[] = [];
  for (const reach of await reaches(session, table, { query, near, after })) {
    const parameters = new Parameters();
    const { square, where } = nearSql(table, { selection: query, near, reach, after }, parameters);
    const page = `${limit === undefined ? "" : ` LIMIT ${limit}`} OFFSET ${offset}`;
    const text =
      `SELECT ${DOCUMENT_COLUMNS}, ${square} AS square FROM ${table.quoted}${where} ` +
      `ORDER BY ${square}, id${page}`;
    ({ rows } = await session.read({ text, values: parameters.values }));
    if (rows.length === limit) break;
  }
  return rows.map((row) => ({ document: toStored<T>(table, row), square: Number(row[6]) }));
}

/** Counts documents between two distances from a place, up to `max`. */
export async function countNear(
  session: Session,
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
): Promise<number> {
  const parameters = new Parameters();
  const { where } = nearSql(table, { selection, near, reach: near.greatest }, parameters);
  const from = `${table.quoted}${where}`;
  const { rows } = await session.read({
    text: `SELECT count(*) FROM ${max === undefined ? from : `(SELECT FROM ${from} LIMIT ${max}) AS found`}`,
    values: parameters.values,
  });
  return Number(rows[0]?.[0]);
}

async function reaches(
  session: Session,
  table: Table,
  { query: { filter, words, deleted, limit, offset }, near, after }: NearQuery,
): Promise<Iterable<number>> {
  const place = placeOfField(table.definition, near);
  if (limit === undefined) return [near.greatest];
  const needed = limit + offset;
  const cell = geoPart(place, "cell");
  const columns = (["x", "y", "z"] as const).map((axis) => geoPart(place, axis)).join(", ");
  const half = (operator: "<" | ">=", direction: "ASC" | "DESC"): string =>
    `(SELECT ${columns} FROM ${table.quoted} WHERE deleted_at IS NULL ` +
    `AND ${cell} ${operator} $1::float8 ORDER BY ${cell} ${direction} LIMIT $2::bigint)`;
  const { rows } = await session.read({
    name: `${table.hash}:sample:${place}`,
    text: `${half(">=", "ASC")} UNION ALL ${half("<", "DESC")}`,
    values: [cellOf(near.position), sampleSize(needed)],
  });
  const sample = rows.map(([x, y, z]): Vector => ({ x: Number(x), y: Number(y), z: Number(z) }));
  const isFiltered = filter !== undefined || words.length > 0 || deleted === "only";
  return growingReach(near, { needed, behind: Number(after?.[0] ?? 0), sample, isFiltered });
}

/** Writes the square of the distance, and WHERE. */
function nearSql(
  table: Table,
  { near, selection, reach, after }: Search,
  parameters: Parameters,
): { readonly square: string; readonly where: string } {
  const place = placeOfField(table.definition, near);
  const part = (axis: "x" | "y" | "z"): string => {
    const difference = `(${geoPart(place, axis)} - ${parameters.bind(near.vector[axis], "float8")})`;
    return `${difference} * ${difference}`;
  };
  const square = `(${part("x")} + ${part("y")} + ${part("z")})`;
  const terms = [whereSql(table, selection, parameters)];
  terms.push(`${square} >= ${parameters.bind(near.least, "float8")}`);
  terms.push(`${square} <= ${parameters.bind(reach, "float8")}`);
  const cells = cellsWithin(near, reach);
  const cell = geoPart(place, "cell");
  if (cells !== undefined) {
    const ranges = cells.map(
      ({ low, high }) =>
        `${cell} BETWEEN ${parameters.bind(low, "float8")} AND ${parameters.bind(high, "float8")}`,
    );
    terms.push(`(${ranges.join(" OR ")})`);
  }
  if (after !== undefined) {
    const behind = parameters.bind(Number(after[0]), "float8");
    terms.push(`(${square}, id) > (${behind}, ${parameters.bind(String(after[1]), "text")})`);
  }
  return { square, where: terms.join(" AND ") };
}
