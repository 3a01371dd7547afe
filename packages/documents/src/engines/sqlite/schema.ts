import { DocumentsError } from "../../api/errors.ts";
import { searchText } from "../../document/fold.ts";
import { keepsRemoved } from "../../query/parse-purge.ts";
import type { Cell, Connection, Row } from "./connection.ts";
import { type IndexDefinition, indexDefinitions } from "./index-definition.ts";
import { REGISTRY } from "./layout.ts";
import { createPlaces, place } from "./placing.ts";
import { DOCUMENT_COLUMNS, toStored } from "./row.ts";
import { indexExpression, quoteName, quoteText } from "./sql.ts";
import { uniqueIndexName } from "./sqlite-error.ts";
import type { Table } from "./table.ts";

/** Raised when {@link fold} changes, so that search indexes are built again. */
const FOLD_VERSION = 1;
const REBUILD_CHUNK = 500;

/** Brings a collection's table and indexes up to its definition, inside a transaction. */
export function prepareCollection(connection: Connection, table: Table): void {
  const { name, unique } = table.definition;
  const known = connection.get(
    `SELECT name, search, expires, geo FROM ${REGISTRY} WHERE name = ?`,
    [name],
  );
  if (known !== undefined && known[0] !== name) {
    throw new DocumentsError(
      "ERR_DOCUMENTS_OPEN",
      `The collection "${name}" differs only in case from "${String(known[0])}", which exists`,
    );
  }
  if (known === undefined) {
    connection.exec(`
      CREATE TABLE ${table.quoted} (
        seq INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        version INTEGER NOT NULL,
        created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        doc TEXT NOT NULL
      ) STRICT;
    `);
    connection.run(`INSERT INTO ${REGISTRY} (name) VALUES (?)`, [name]);
  }
  const columns = columnsOf(connection, table);
  if (table.softDelete && !columns.has("deleted_at")) {
    connection.exec(`ALTER TABLE ${table.quoted} ADD COLUMN deleted_at TEXT`);
  }
  if (table.softDelete || columns.has("deleted_at")) indexRemoved(connection, table);
  if (!table.softDelete && columns.has("deleted_at")) refuseRemoved(connection, table);
  prepareExpiry(connection, table, { columns, current: known?.[2] ?? null });
  for (const index of indexDefinitions(table)) createIndex(connection, table, index);
  for (const fields of unique) {
    // The other form of the index, which would say more or less than the definition does.
    const other = uniqueIndexName({ collection: name, live: !table.softDelete }, fields);
    connection.exec(`DROP INDEX IF EXISTS ${quoteName(other)}`);
  }
  prepareSearch(connection, table, known?.[1] ?? null);
  preparePlaces(connection, table, known?.[3] ?? null);
}

function createIndex(connection: Connection, table: Table, index: IndexDefinition): void {
  const fields = index.paths.map((path) => indexExpression(path)).join(", ");
  const where = index.isUnique && table.softDelete ? " WHERE deleted_at IS NULL" : "";
  connection.exec(
    `CREATE ${index.isUnique ? "UNIQUE" : ""} INDEX IF NOT EXISTS ${quoteName(index.name)} ` +
      `ON ${table.quoted} (${fields})${where}`,
  );
}

/** What the registry keeps of how a collection is searched; null for not at all. */
export function wantedSearch({ definition: { search } }: Table): string | null {
  return search.length === 0 ? null : JSON.stringify({ fold: FOLD_VERSION, fields: search });
}

/** What the registry keeps of when documents expire; null for never. */
export function wantedExpires({ definition: { expires } }: Table): string | null {
  return expires === undefined ? null : JSON.stringify([expires.field, expires.after ?? 0]);
}

/** What the registry keeps of the fields that hold places; null for none. */
export function wantedGeo({ definition: { geo = [] } }: Table): string | null {
  return geo.length === 0 ? null : JSON.stringify(geo);
}

function columnsOf(connection: Connection, table: Table): ReadonlySet<unknown> {
  const rows = connection.all("SELECT name FROM pragma_table_info(?)", [table.definition.name]);
  return new Set(rows.map(([column]) => column));
}

function removedIndex({ definition: { name } }: Table): string {
  return quoteName(`${name}:removed`);
}

/** Finds removed documents, of which there are few or none, without reading all of the others. */
function indexRemoved(connection: Connection, table: Table): void {
  connection.exec(
    `CREATE INDEX IF NOT EXISTS ${removedIndex(table)} ` +
      `ON ${table.quoted} (deleted_at) WHERE deleted_at IS NOT NULL`,
  );
}

/** Without `softDelete` the removed documents would be there again. */
function refuseRemoved(connection: Connection, table: Table): void {
  const removed = connection.get(
    `SELECT 1 FROM ${table.quoted} INDEXED BY ${removedIndex(table)} ` +
      "WHERE deleted_at IS NOT NULL LIMIT 1",
    [],
  );
  if (removed !== undefined) throw keepsRemoved(table.definition);
}

/** Computes anew when documents expire, where that is defined differently than it was. */
function prepareExpiry(
  connection: Connection,
  table: Table,
  { columns, current }: { readonly columns: ReadonlySet<unknown>; readonly current: unknown },
): void {
  const { name } = table.definition;
  const wanted = wantedExpires(table);
  if (current === wanted) return;
  if (!columns.has("expires_at")) {
    connection.exec(`ALTER TABLE ${table.quoted} ADD COLUMN expires_at INTEGER`);
  }
  const { expiresAt = () => null } = table;
  const write = `UPDATE ${table.quoted} SET expires_at = ? WHERE seq = ?`;
  forEachRow(connection, table, (seq, row) => {
    connection.run(write, [expiresAt(toStored(table, row)), seq]);
  });
  connection.exec(
    `CREATE INDEX IF NOT EXISTS ${quoteName(`${name}:expires`)} ` +
      `ON ${table.quoted} (expires_at) WHERE expires_at IS NOT NULL`,
  );
  connection.run(`UPDATE ${REGISTRY} SET expires = ? WHERE name = ?`, [wanted, name]);
}

/**
 * Builds the search index again when other fields are declared than it holds. One that is declared
 * no more would fall behind; it can always be made again, so it is dropped.
 */
function prepareSearch(connection: Connection, table: Table, current: unknown): void {
  const { name } = table.definition;
  const wanted = wantedSearch(table);
  if (current === wanted) return;
  connection.exec(`DROP TABLE IF EXISTS ${table.quotedSearch}`);
  if (wanted !== null) {
    connection.exec(
      `CREATE VIRTUAL TABLE ${table.quotedSearch} USING fts5(` +
        `text, tokenize = ${quoteText("trigram case_sensitive 1")})`,
    );
    fillSearch(connection, table);
  }
  connection.run(`UPDATE ${REGISTRY} SET search = ? WHERE name = ?`, [wanted, name]);
}

/** Builds the table of places again when other fields are declared; as the search index is. */
function preparePlaces(connection: Connection, table: Table, current: unknown): void {
  const wanted = wantedGeo(table);
  if (current === wanted) return;
  connection.exec(`DROP TABLE IF EXISTS ${table.quotedGeo}`);
  if (wanted !== null) {
    createPlaces(connection, table);
    forEachRow(connection, table, (seq, row) => {
      place(connection, table, { seq, stored: toStored(table, row) });
    });
  }
  connection.run(`UPDATE ${REGISTRY} SET geo = ? WHERE name = ?`, [wanted, table.definition.name]);
}

function fillSearch(connection: Connection, table: Table): void {
  const write = `INSERT INTO ${table.quotedSearch} (rowid, text) VALUES (?, ?)`;
  forEachRow(connection, table, (seq, row) => {
    connection.run(write, [seq, searchText(toStored(table, row), table.searchPaths)]);
  });
}

function forEachRow(
  connection: Connection,
  table: Table,
  visit: (seq: number, row: Row) => void,
): void {
  const read = `SELECT ${DOCUMENT_COLUMNS}, NULL, seq FROM ${table.quoted} WHERE seq > ? ORDER BY seq LIMIT ${REBUILD_CHUNK}`;
  let last: Cell = -1;
  for (;;) {
    const rows = connection.all(read, [last]);
    for (const row of rows) {
      last = Number(row[6]);
      visit(last, row);
    }
    if (rows.length < REBUILD_CHUNK) return;
  }
}
