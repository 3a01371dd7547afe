import { valueAt } from "../../api/field-path.ts";
import { cellOf } from "../../geo/geo-cell.ts";
import { positionOf, vectorOf } from "../../geo/position.ts";
import type { Connection } from "./connection.ts";
import type { Table } from "./table.ts";

/**
 * Creates the table of places. A row has the number of the field in the definition, the cell that
 * queries find it by, and the exact vector that they compare, so that no document is read for those
 * that are too far away.
 */
export function createPlaces(connection: Connection, table: Table): void {
  connection.exec(`
    CREATE TABLE ${table.quotedGeo} (
      field INTEGER NOT NULL,
      cell INTEGER NOT NULL,
      document INTEGER NOT NULL,
      x REAL NOT NULL,
      y REAL NOT NULL,
      z REAL NOT NULL,
      PRIMARY KEY (field, cell, document)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX ${table.quotedGeo.slice(0, -1)}:document" ON ${table.quotedGeo} (document);
  `);
}

/** Notes where a document is. */
export function place(
  connection: Connection,
  table: Table,
  { seq, stored }: { readonly seq: number; readonly stored: unknown },
): void {
  for (const [field, { segments }] of table.geoPaths.entries()) {
    const position = positionOf(valueAt(stored, segments));
    if (position === undefined) continue;
    const { x, y, z } = vectorOf(position);
    connection.run(
      `INSERT INTO ${table.quotedGeo} (field, cell, document, x, y, z) VALUES (?, ?, ?, ?, ?, ?)`,
      [field, cellOf(position), seq, x, y, z],
    );
  }
}

/** Notes where a document is after a change, if that is another place. */
export function replace(
  connection: Connection,
  table: Table,
  {
    seq,
    before,
    after,
  }: { readonly seq: number; readonly before: unknown; readonly after: unknown },
): void {
  const places = (stored: unknown): string =>
    JSON.stringify(table.geoPaths.map(({ segments }) => positionOf(valueAt(stored, segments))));
  if (places(before) === places(after)) return;
  displace(connection, table, seq);
  place(connection, table, { seq, stored: after });
}

/** Forgets where a document is. */
export function displace(connection: Connection, table: Table, seq: number): void {
  if (table.geoPaths.length === 0) return;
  connection.run(`DELETE FROM ${table.quotedGeo} WHERE document = ?`, [seq]);
}
