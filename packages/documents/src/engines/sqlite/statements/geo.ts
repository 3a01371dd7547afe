import { valueAt } from "../../../api/field-path.ts";
import { cellOf } from "../../../geo/geo-cell.ts";
import { cellsWithin, placeOfField } from "../../../geo/near.ts";
import { positionOf, vectorOf } from "../../../geo/position.ts";
import { quoteName } from "../../dialect.ts";
import type { GeoLayout, Layout, NearSearch } from "../../layout.ts";
import type { Operation, Statement } from "../../operation.ts";
import { selectionTerms } from "../../operations/where.ts";

/**
 * Places of documents, in a table next to that of the documents. A row has the field's number in
 * the definition, the cell by which queries find it, and the exact vector. So no document is read
 * that is too far away.
 */
export class SqliteGeo implements GeoLayout {
  readonly #layout: Layout;
  readonly #quoted: string;
  readonly #index: string;

  constructor(layout: Layout) {
    this.#layout = layout;
    this.#quoted = quoteName(`${layout.definition.name}:geo`);
    this.#index = quoteName(`${layout.definition.name}:geo:document`);
  }

  /** Statements that drop an earlier table, and create it. */
  get tableStatements(): { readonly drop: string; readonly create: string } {
    return {
      drop: `DROP TABLE IF EXISTS ${this.#quoted};`,
      create: `
        CREATE TABLE ${this.#quoted} (
          field INTEGER NOT NULL,
          cell INTEGER NOT NULL,
          document INTEGER NOT NULL,
          x REAL NOT NULL,
          y REAL NOT NULL,
          z REAL NOT NULL,
          PRIMARY KEY (field, cell, document)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX ${this.#index} ON ${this.#quoted} (document);`,
    };
  }

  /** Writes the places of a document; a program without places may have left some of its number. */
  *add(seq: number, stored: unknown): Operation<void> {
    yield {
      kind: "write",
      text: `DELETE FROM ${this.#quoted} WHERE document = ?`,
      values: [seq],
    };
    for (const [field, { segments }] of this.#layout.geoPaths.entries()) {
      const position = positionOf(valueAt(stored, segments));
      if (position === undefined) continue;
      const { x, y, z } = vectorOf(position);
      yield {
        kind: "write",
        text: `INSERT INTO ${this.#quoted} (field, cell, document, x, y, z) VALUES (?, ?, ?, ?, ?, ?)`,
        values: [field, cellOf(position), seq, x, y, z],
      };
    }
  }

  /** Replaces the places of a document, if they changed. */
  *replace(seq: number, before: unknown, after: unknown): Operation<void> {
    const { geoPaths } = this.#layout;
    if (geoPaths.length === 0) return;
    const places = (stored: unknown): string =>
      JSON.stringify(geoPaths.map(({ segments }) => positionOf(valueAt(stored, segments))));
    if (places(before) !== places(after)) yield* this.add(seq, after);
  }

  /** The text of a statement that removes the places of the rows that a query selects. */
  removal(rows: string): string {
    return `DELETE FROM ${this.#quoted} WHERE document IN (${rows})`;
  }

  sample(field: number, cell: number, size: number): readonly Statement[] {
    const read = (condition: string): Statement => ({
      kind: "read",
      text: `SELECT x, y, z FROM ${this.#quoted} WHERE field = ? AND ${condition} LIMIT ?`,
      values: [field, cell, size],
    });
    return [read("cell >= ? ORDER BY cell"), read("cell < ? ORDER BY cell DESC")];
  }

  select(search: NearSearch, limit: number | undefined, offset: number): Statement {
    const { columns, quoted } = this.#layout;
    const sql = this.#layout.begin();
    const inner = this.#from(search, sql);
    // The documents are read when it is known which ones they are.
    return sql.read(
      `SELECT ${columns}, square FROM (SELECT seq AS found, id AS name, square ${inner} ` +
        `ORDER BY square, id${sql.page(limit, offset)}) ` +
        `CROSS JOIN ${quoted} ON seq = found ORDER BY square, name`,
    );
  }

  count(search: NearSearch, max: number | undefined): Statement {
    const sql = this.#layout.begin();
    const inner = this.#from(search, sql);
    return sql.read(`SELECT count(*) FROM (SELECT 1 ${inner}${sql.page(max, 0)})`);
  }

  /** Writes FROM and WHERE; the columns are those of the documents, and `square`. */
  #from({ near, selection, reach, after }: NearSearch, sql: ReturnType<Layout["begin"]>): string {
    const { definition, quoted } = this.#layout;
    const field = placeOfField(definition, near);
    const difference = (axis: "x" | "y" | "z"): string =>
      `(${axis} - ${sql.bind(near.vector[axis], "float8")})`;
    const part = (axis: "x" | "y" | "z"): string => `${difference(axis)} * ${difference(axis)}`;
    const square = `${part("x")} + ${part("y")} + ${part("z")} AS square`;
    const cells = cellsWithin(near, reach);
    let places: string;
    if (cells === undefined) {
      // The plus keeps the planner from taking the field for a condition that few rows meet.
      places = `(SELECT document, ${square} FROM ${this.#quoted} WHERE +field = ${sql.bind(field, "bigint")})`;
    } else {
      const ranges = JSON.stringify(cells.map(({ low, high }) => [low, high]));
      places =
        `(SELECT document, ${square} FROM (SELECT value ->> 0 AS low, value ->> 1 AS high ` +
        `FROM json_each(${sql.bind(ranges, "text")})) CROSS JOIN ${this.#quoted} ` +
        `ON field = ${sql.bind(field, "bigint")} AND cell BETWEEN low AND high)`;
    }
    const terms = [
      ...sql.countVisited("document"),
      `square >= ${sql.bind(near.lowest, "float8")}`,
      `square <= ${sql.bind(reach, "float8")}`,
    ];
    if (after !== undefined) {
      const [behind = null, id = null] = after;
      terms.push(`(square, id) > (${sql.bind(behind, "float8")}, ${sql.bind(id, "text")})`);
    }
    terms.push(...selectionTerms(this.#layout, selection, sql));
    return `FROM ${places} JOIN ${quoted} ON seq = document WHERE ${terms.join(" AND ")}`;
  }
}
