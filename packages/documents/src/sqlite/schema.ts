import { DocumentsError } from "../errors.ts";
import { type ParsedPath, parsePath } from "../field-path.ts";
import { searchText } from "../fold.ts";
import type { Cell, Connection } from "./connection.ts";
import { DOCUMENT_COLUMNS, toStored } from "./row.ts";
import { indexExpression, quoteName, quoteText } from "./sql.ts";
import { uniqueIndexName } from "./sqlite-error.ts";
import type { Table } from "./table.ts";

/** The table with a row for each collection. */
export const REGISTRY: string = quoteName("fetchwork:collections");

/** Marks the file, so that no other program's database is taken for a store: "FWDR". */
export const APPLICATION_ID = 0x46574452;

/** The version of the layout below. */
export const FORMAT_VERSION = 1;

/** Raised when {@link fold} changes, so that search indexes are built again. */
const FOLD_VERSION = 1;
const REBUILD_CHUNK = 500;

/** Creates the tables of an empty store, inside a transaction. */
export function createRegistry(connection: Connection): void {
  connection.exec(`
    CREATE TABLE ${REGISTRY} (
      name TEXT PRIMARY KEY COLLATE NOCASE,
      documents INTEGER NOT NULL DEFAULT 0,
      search TEXT
    ) STRICT;
    PRAGMA application_id = ${APPLICATION_ID};
    PRAGMA user_version = ${FORMAT_VERSION};
  `);
}

/** Brings a collection's table and indexes up to its definition, inside a transaction. */
export function prepareCollection(connection: Connection, table: Table): void {
  const { name, unique, indexes } = table.definition;
  const known = connection.get(`SELECT name, search FROM ${REGISTRY} WHERE name = ?`, [name]);
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
  createIndex(connection, table, { name: `${name}:created`, paths: [CREATED_AT, ID] });
  for (const fields of unique) {
    const paths = fields.map((field) => parsePath(field));
    createIndex(connection, table, {
      name: uniqueIndexName(name, fields),
      paths,
      unique: "UNIQUE",
    });
  }
  for (const fields of indexes) {
    const paths = fields.map((field) => parsePath(field));
    // With the id at its end the index serves the whole of a total order.
    if (!fields.includes("id")) paths.push(ID);
    createIndex(connection, table, { name: `${name}:index:${JSON.stringify(fields)}`, paths });
  }
  prepareSearch(connection, table, known?.[1] ?? null);
}

function createIndex(
  connection: Connection,
  table: Table,
  index: {
    readonly name: string;
    readonly paths: readonly ParsedPath[];
    readonly unique?: "UNIQUE";
  },
): void {
  const fields = index.paths.map((path) => indexExpression(path)).join(", ");
  connection.exec(
    `CREATE ${index.unique ?? ""} INDEX IF NOT EXISTS ${quoteName(index.name)} ` +
      `ON ${table.quoted} (${fields})`,
  );
}

/**
 * Builds the search index again when other fields are declared than it holds. One that is declared
 * no more would fall behind; it can always be made again, so it is dropped.
 */
function prepareSearch(connection: Connection, table: Table, current: unknown): void {
  const { name, search } = table.definition;
  const wanted =
    search.length === 0 ? null : JSON.stringify({ fold: FOLD_VERSION, fields: search });
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

function fillSearch(connection: Connection, table: Table): void {
  const read = `SELECT ${DOCUMENT_COLUMNS}, seq FROM ${table.quoted} WHERE seq > ? ORDER BY seq LIMIT ${REBUILD_CHUNK}`;
  const write = `INSERT INTO ${table.quotedSearch} (rowid, text) VALUES (?, ?)`;
  let last: Cell = -1;
  for (;;) {
    const rows = connection.all(read, [last]);
    for (const row of rows) {
      last = Number(row[5]);
      connection.run(write, [last, searchText(toStored(table, row), table.searchPaths)]);
    }
    if (rows.length < REBUILD_CHUNK) return;
  }
}

const CREATED_AT: ParsedPath = parsePath("createdAt");
const ID: ParsedPath = parsePath("id");
