import { toStored } from "../../../document/stored.ts";
import { isCollationKey, keyOf, staleKeySql } from "../../collation.ts";
import type { Connection } from "../connection/connection.ts";
import type { SqliteLayout } from "../statements/layout.ts";

const chunk = 500;

/** Adds the columns of keys that a table lacks. */
export function addKeyColumns(
  connection: Connection,
  { collated, quoted }: SqliteLayout,
  columns: ReadonlySet<unknown>,
): void {
  for (const { key, of } of collated.values()) {
    if (columns.has(key)) continue;
    connection.exec(`ALTER TABLE ${quoted} ADD COLUMN ${key} ANY`);
    connection.exec(`ALTER TABLE ${quoted} ADD COLUMN ${of} INTEGER`);
  }
}

/** Derives the keys of documents of which they are not current: programs that do not know the columns wrote these. */
export function deriveKeys(
  connection: Connection,
  { collated, definition, quoted }: SqliteLayout,
): void {
  for (const field of collated.values()) {
    const read =
      `SELECT id, version, created_at, updated_at, doc, NULL, seq FROM ${quoted} ` +
      `WHERE ${staleKeySql(field)} AND seq > ? ORDER BY seq LIMIT ${chunk}`;
    const write = `UPDATE ${quoted} SET ${field.key} = ?, ${field.of} = version WHERE seq = ?`;
    for (let last = -1, isFull = true; isFull;) {
      const rows = connection.all(read, [last]);
      isFull = rows.length === chunk;
      for (const row of rows) {
        last = Number(row[6]);
        connection.run(write, [keyOf(field, toStored(definition.name, row)), last]);
      }
    }
  }
}

/** Drops the columns of keys that a definition does not ask for, whose indexes are dropped already. */
export function dropKeyColumns(
  connection: Connection,
  { collated, quoted }: SqliteLayout,
  columns: ReadonlySet<unknown>,
): void {
  const wanted = new Set([...collated.values()].map(({ key }) => key));
  for (const column of columns) {
    const key = String(column);
    if (!isCollationKey(key) || wanted.has(key)) continue;
    connection.exec(`ALTER TABLE ${quoted} DROP COLUMN ${key}`);
    connection.exec(`ALTER TABLE ${quoted} DROP COLUMN ${key}_of`);
  }
}
