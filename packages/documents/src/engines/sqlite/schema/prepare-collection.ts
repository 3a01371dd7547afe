import { DocumentsError } from "../../../api/errors.ts";
import { toStored } from "../../../document/stored.ts";
import { keepsRemoved } from "../../../query/parse-many.ts";
import { type Derived, wantedDerived } from "../../derived.ts";
import { quoteName } from "../../dialect.ts";
import type { Row } from "../../operation.ts";
import { registryTable } from "../../own-tables.ts";
import type { Connection } from "../connection/connection.ts";
import { chunkSize, rowsOf } from "../connection/rows-of.ts";
import { runOperation, runStatement } from "../connection/run-operation.ts";
import { uniqueIndexName } from "../connection/sqlite-error.ts";
import { prepareSearch } from "./search-generations.ts";
import { indexExpression } from "../statements/dialect.ts";
import type { SqliteIndex } from "../statements/indexes.ts";
import type { SqliteLayout } from "../statements/layout.ts";
import {
  createMembers,
  fieldOfMembers,
  membersTable,
  type MembersTable,
} from "../statements/members.ts";

/** Number of documents from which another thread builds what is missing: about 10 ms of work. */
const manyDocuments = 10_000;

/** Brings the tables and indexes of a collection up to its definition, inside a transaction. */
export function prepareCollection(connection: Connection, layout: SqliteLayout): void {
  const { name, unique } = layout.definition;
  const known = connection.get(`SELECT name, expires, geo FROM ${registryTable} WHERE name = ?`, [
    name,
  ]);
  if (known !== undefined && known[0] !== name) {
    throw new DocumentsError(
      "ERR_DOCUMENTS_OPEN",
      `the collection "${name}" differs only in case from "${String(known[0])}", which exists`,
    );
  }
  if (known === undefined) {
    connection.exec(`
      CREATE TABLE ${layout.quoted} (
        seq INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        version INTEGER NOT NULL,
        created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        doc TEXT NOT NULL,
        checksum INTEGER NOT NULL
      ) STRICT;
    `);
    connection.run(`INSERT INTO ${registryTable} (name) VALUES (?)`, [name]);
  }
  const columns = columnsOf(connection, layout);
  if (layout.softDelete && !columns.has("deleted_at")) {
    connection.exec(`ALTER TABLE ${layout.quoted} ADD COLUMN deleted_at TEXT`);
  }
  if (layout.softDelete || columns.has("deleted_at")) indexRemoved(connection, layout);
  if (!layout.softDelete && columns.has("deleted_at")) refuseRemoved(connection, layout);
  const [, expires, geo] = known ?? [];
  const wanted = wantedDerived(layout.definition);
  if (wanted.expires !== (expires ?? null)) {
    const hasColumn = columns.has("expires_at");
    if (!hasColumn) connection.exec(`ALTER TABLE ${layout.quoted} ADD COLUMN expires_at INTEGER`);
    rebuildExpiry(connection, layout);
    register(connection, layout, "expires", wanted);
  }
  for (const index of layout.indexes) createIndex(connection, layout, index);
  for (const table of missingMembers(connection, layout)) {
    for (const text of createMembers(layout.quoted, table)) connection.exec(text);
  }
  layout.members.use(builtMembers(connection, layout));
  for (const fields of unique) {
    // The other form of the index, which would refuse more or less than the definition does.
    const other = uniqueIndexName({ collection: name, live: !layout.softDelete }, fields);
    connection.exec(`DROP INDEX IF EXISTS ${quoteName(other)}`);
  }
  prepareSearch(connection, layout);
  if (wanted.geo !== (geo ?? null)) {
    rebuildPlaces(connection, layout);
    register(connection, layout, "geo", wanted);
  }
}

/** Whether {@link prepareCollection} reads all documents of a large collection. */
export function buildsMuch(connection: Connection, layout: SqliteLayout): boolean {
  const { name } = layout.definition;
  const [documents, expires, geo] =
    connection.get(`SELECT documents, expires, geo FROM ${registryTable} WHERE name = ?`, [name]) ??
    [];
  if (Number(documents ?? 0) < manyDocuments) return false;
  const wanted = wantedDerived(layout.definition);
  if (wanted.expires !== expires || wanted.geo !== geo) return true;
  const rows = connection.all(
    "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = ?",
    [name],
  );
  const built = new Set(rows.map(([index]) => index));
  const needed = layout.indexes.map((index) => index.name);
  if (layout.softDelete) needed.push(removedIndexOf(layout));
  return needed.some((index) => !built.has(index)) || missingMembers(connection, layout).length > 0;
}

/** Lists the tables of members that a collection lacks. */
function missingMembers(connection: Connection, layout: SqliteLayout): readonly MembersTable[] {
  if (layout.listIndexed.size === 0) return [];
  const built = new Set(builtMembers(connection, layout));
  return [...layout.listIndexed]
    .filter((field) => !built.has(field))
    .map((field) => membersTable(layout.definition.name, field));
}

/** Lists the fields whose lists have a table of their members. */
export function builtMembers(
  connection: Connection,
  { definition: { name } }: SqliteLayout,
): readonly string[] {
  const text = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '%:members:%'";
  return connection.all(text, []).flatMap(([table]) => fieldOfMembers(name, String(table)) ?? []);
}

/** Drops those of the indexes that a definition once named, and this one does not. */
export function dropUnusedIndexes(
  connection: Connection,
  layout: SqliteLayout,
  built: readonly string[],
): void {
  const wanted = new Set(layout.indexes.map(({ name }) => name));
  for (const name of built) {
    if (wanted.has(name) || layout.fieldsOfIndex(name) === undefined) continue;
    connection.exec(`DROP INDEX IF EXISTS ${quoteName(name)}`);
  }
  for (const field of builtMembers(connection, layout)) {
    if (layout.listIndexed.has(field)) continue;
    const { name } = membersTable(layout.definition.name, field);
    connection.exec(`DROP TABLE IF EXISTS ${quoteName(name)}`);
  }
  layout.members.use(builtMembers(connection, layout));
  if (layout.geoPaths.length === 0) connection.exec(layout.geo.tableStatements.drop);
}

function createIndex(connection: Connection, layout: SqliteLayout, index: SqliteIndex): void {
  const columns = index.paths.map((path) => indexExpression(path)).join(", ");
  const where = index.isUnique && layout.softDelete ? " WHERE deleted_at IS NULL" : "";
  connection.exec(
    `CREATE ${index.isUnique ? "UNIQUE" : ""} INDEX IF NOT EXISTS ${quoteName(index.name)} ` +
      `ON ${layout.quoted} (${columns})${where}`,
  );
}

function register(
  connection: Connection,
  { definition }: SqliteLayout,
  column: "expires" | "geo",
  wanted: Derived,
): void {
  connection.run(`UPDATE ${registryTable} SET ${column} = ? WHERE name = ?`, [
    wanted[column],
    definition.name,
  ]);
}

function columnsOf(connection: Connection, { definition }: SqliteLayout): ReadonlySet<unknown> {
  const rows = connection.all("SELECT name FROM pragma_table_info(?)", [definition.name]);
  return new Set(rows.map(([column]) => column));
}

function removedIndexOf({ definition: { name } }: SqliteLayout): string {
  return `${name}:removed`;
}

/** Finds removed documents, of which there are few or none, without reading all of the others. */
function indexRemoved(connection: Connection, layout: SqliteLayout): void {
  connection.exec(
    `CREATE INDEX IF NOT EXISTS ${quoteName(removedIndexOf(layout))} ` +
      `ON ${layout.quoted} (deleted_at) WHERE deleted_at IS NOT NULL`,
  );
}

/** Without `softDelete` the removed documents would be there again. */
function refuseRemoved(connection: Connection, layout: SqliteLayout): void {
  const removed = connection.get(
    `SELECT 1 FROM ${layout.quoted} INDEXED BY ${quoteName(removedIndexOf(layout))} ` +
      "WHERE deleted_at IS NOT NULL LIMIT 1",
    [],
  );
  if (removed !== undefined) throw keepsRemoved(layout.definition);
}

/** Computes again when documents expire. */
function rebuildExpiry(connection: Connection, layout: SqliteLayout): void {
  const { definition, expiresAt = () => null } = layout;
  const write = `UPDATE ${layout.quoted} SET expires_at = ? WHERE seq = ?`;
  for (const row of documentsOf(connection, layout)) {
    connection.run(write, [expiresAt(toStored(definition.name, row)), Number(row[6])]);
  }
  connection.exec(
    `CREATE INDEX IF NOT EXISTS ${quoteName(`${definition.name}:expires`)} ` +
      `ON ${layout.quoted} (expires_at) WHERE expires_at IS NOT NULL`,
  );
}

/** Builds the table of places again; other programs may use one that this one does not need. */
function rebuildPlaces(connection: Connection, layout: SqliteLayout): void {
  const { definition, geo, geoPaths } = layout;
  const { drop, create } = geo.tableStatements;
  if (geoPaths.length === 0) return;
  connection.exec(drop + create);
  for (const row of documentsOf(connection, layout)) {
    runOperation(geo.add(Number(row[6]), toStored(definition.name, row)), (step) => {
      if (step.kind !== "write") throw new TypeError(`unexpected step ${step.kind}`);
      return runStatement(connection, step);
    });
  }
}

/** Reads all documents, with their numbers in the last column. */
function documentsOf(connection: Connection, { quoted }: SqliteLayout): Iterable<Row> {
  const text =
    `SELECT id, version, created_at, updated_at, doc, NULL, seq FROM ${quoted} ` +
    `WHERE seq > ? ORDER BY seq LIMIT ${chunkSize}`;
  return rowsOf(connection, text, 6);
}
