import { valueAt } from "../../../api/field-path.ts";
import { cellOf } from "../../../geo/geo-cell.ts";
import { cellsWithin, placeOfField } from "../../../geo/near.ts";
import { positionOf, vectorOf } from "../../../geo/position.ts";
import type { GeoLayout, Layout, NearSearch } from "../../layout.ts";
import type { Statement } from "../../operation.ts";
import { countSql, selectionTerms, whereSql } from "../../operations/where.ts";

const parts = { x: 1, y: 2, z: 3, cell: 4 } as const;

/**
 * Writes a number of the column of places, of the field at a place of the definition.
 *
 * The column is one array, so that a collection gets more fields without getting more columns: four
 * numbers for each, the vector that queries compare and the cell that they find it by.
 */
export function geoPart(field: number, part: keyof typeof parts): string {
  return `geo[${field * 4 + parts[part]}]`;
}

/** Returns the column of places as PostgreSQL reads an array; NULL in a collection without any. */
export function geoColumn({ geoPaths }: Pick<Layout, "geoPaths">, stored: unknown): string | null {
  if (geoPaths.length === 0) return null;
  const numbers = geoPaths.flatMap(({ segments }) => {
    const position = positionOf(valueAt(stored, segments));
    if (position === undefined) return ["NULL", "NULL", "NULL", "NULL"];
    const { x, y, z } = vectorOf(position);
    return [x, y, z, cellOf(position)].map(String);
  });
  return `{${numbers.join(",")}}`;
}

/** Finds documents by their places, which are a column of their table. */
export class PostgresGeo implements GeoLayout {
  readonly #layout: Layout;

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  sample(field: number, cellNumber: number, size: number): readonly Statement[] {
    const sql = this.#layout.begin();
    const cell = geoPart(field, "cell");
    const columns = (["x", "y", "z"] as const).map((axis) => geoPart(field, axis)).join(", ");
    const half = (operator: "<" | ">=", direction: "ASC" | "DESC"): string =>
      `(SELECT ${columns} FROM ${this.#layout.quoted} WHERE deleted_at IS NULL ` +
      `AND ${cell} ${operator} ${sql.bind(cellNumber, "float8")} ` +
      `ORDER BY ${cell} ${direction} LIMIT ${sql.bind(size, "bigint")})`;
    return [sql.read(`${half(">=", "ASC")} UNION ALL ${half("<", "DESC")}`, "fixed")];
  }

  select(search: NearSearch, limit: number | undefined, offset: number): Statement {
    const { columns, quoted } = this.#layout;
    const sql = this.#layout.begin();
    const { square, where } = this.#write(search, sql);
    return sql.read(
      `SELECT ${columns}, ${square} AS square FROM ${quoted}${where} ` +
        `ORDER BY ${square}, id${sql.page(limit, offset)}`,
    );
  }

  count(search: NearSearch, max: number | undefined): Statement {
    const sql = this.#layout.begin();
    const from = `${this.#layout.quoted}${this.#write(search, sql).where}`;
    return sql.read(countSql(from, max, sql));
  }

  /** Writes the square of the distance, and WHERE. */
  #write(
    { near, selection, reach, after }: NearSearch,
    sql: ReturnType<Layout["begin"]>,
  ): { readonly square: string; readonly where: string } {
    const field = placeOfField(this.#layout.definition, near);
    const part = (axis: "x" | "y" | "z"): string => {
      const difference = `(${geoPart(field, axis)} - ${sql.bind(near.vector[axis], "float8")})`;
      return `${difference} * ${difference}`;
    };
    const square = `(${part("x")} + ${part("y")} + ${part("z")})`;
    const terms = [...selectionTerms(this.#layout, selection, sql)];
    terms.push(`${square} >= ${sql.bind(near.lowest, "float8")}`);
    terms.push(`${square} <= ${sql.bind(reach, "float8")}`);
    const cells = cellsWithin(near, reach);
    if (cells !== undefined) {
      const cell = geoPart(field, "cell");
      const ranges = cells.map(({ low, high }) => {
        return `${cell} BETWEEN ${sql.bind(low, "float8")} AND ${sql.bind(high, "float8")}`;
      });
      terms.push(`(${ranges.join(" OR ")})`);
    }
    if (after !== undefined) {
      const [behind, id] = after;
      terms.push(
        `(${square}, id) > (${sql.bind(Number(behind), "float8")}, ${sql.bind(String(id), "text")})`,
      );
    }
    return { square, where: whereSql(terms) };
  }
}
