import { quoteName } from "../../dialect.ts";
import {
  changesTable,
  generationsTable,
  locksTable,
  migrationsTable,
  positionsTable,
  registryTable,
} from "../../own-tables.ts";
import type { Connection } from "../connection/connection.ts";

/** The table with the leases of documents. */
export const leasesTable: string = quoteName("fetchwork:leases");

/** The table with the rows whose search texts only another release can derive. */
export const unsearchedTable: string = quoteName("fetchwork:unsearched");

/** Marks the file, so that no other program's database is taken for a store: "FWDR". */
export const applicationId = 0x46574452;

/** The version of the layout below. */
export const formatVersion = 5;

/** Creates the tables of an empty store, or those that an earlier format lacks, in a transaction. */
export function upgradeTables(connection: Connection, from: number): void {
  if (from < 1) {
    connection.exec(`
      CREATE TABLE ${registryTable} (
        name TEXT PRIMARY KEY COLLATE NOCASE,
        documents INTEGER NOT NULL DEFAULT 0,
        search TEXT
      ) STRICT;
    `);
  }
  if (from < 2) {
    // AUTOINCREMENT, because a position must not come again after the last record was trimmed.
    connection.exec(`
      ALTER TABLE ${registryTable} ADD COLUMN expires TEXT;
      CREATE TABLE ${changesTable} (
        position INTEGER PRIMARY KEY AUTOINCREMENT,
        collection TEXT NOT NULL,
        id TEXT NOT NULL,
        kind TEXT NOT NULL,
        version INTEGER NOT NULL,
        at TEXT NOT NULL,
        doc TEXT
      ) STRICT;
      CREATE TABLE ${positionsTable} (name TEXT PRIMARY KEY, position INTEGER NOT NULL) STRICT;
      CREATE TABLE ${leasesTable} (
        collection TEXT NOT NULL,
        id TEXT NOT NULL,
        token TEXT NOT NULL,
        until INTEGER NOT NULL,
        attempt INTEGER NOT NULL,
        PRIMARY KEY (collection, id)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE ${locksTable} (
        name TEXT PRIMARY KEY,
        token TEXT NOT NULL,
        until INTEGER NOT NULL
      ) STRICT;
      CREATE TABLE ${migrationsTable} (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        at TEXT NOT NULL
      ) STRICT;
    `);
  }
  if (from < 3) connection.exec(`ALTER TABLE ${registryTable} ADD COLUMN geo TEXT`);
  if (from < 4) {
    connection.exec(
      `ALTER TABLE ${registryTable} ADD COLUMN removed_version INTEGER NOT NULL DEFAULT 0`,
    );
  }
  if (from < 5) connection.exec(`ALTER TABLE ${changesTable} ADD COLUMN checksum INTEGER`);
  connection.exec(`
    PRAGMA application_id = ${applicationId};
    PRAGMA user_version = ${formatVersion};
  `);
}

/** Whether the tables of {@link createSearchTables} exist. */
export function hasSearchTables(connection: Connection): boolean {
  const text = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'fetchwork:unsearched'";
  return connection.get(text, []) !== undefined;
}

/**
 * Creates the tables of search generations. They are no part of the format, because programs without them can use the
 * same file. A generation is built when `done` reached `goal`, a number of a row.
 */
export function createSearchTables(connection: Connection): void {
  connection.exec(`
    CREATE TABLE IF NOT EXISTS ${generationsTable} (
      collection TEXT NOT NULL,
      derived TEXT NOT NULL,
      suffix TEXT NOT NULL,
      done INTEGER NOT NULL,
      goal INTEGER NOT NULL,
      used INTEGER NOT NULL,
      PRIMARY KEY (collection, derived)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS ${unsearchedTable} (
      collection TEXT NOT NULL,
      suffix TEXT NOT NULL,
      seq INTEGER NOT NULL,
      PRIMARY KEY (collection, suffix, seq)
    ) STRICT, WITHOUT ROWID;
  `);
}

/**
 * Writes the statement that raises the highest version of removed documents of a collection, see `Layout.insert`. `removed`
 * selects the highest version to be removed.
 */
export function raiseRemovedVersion(removed: string): string {
  return (
    `UPDATE ${registryTable} SET removed_version = gone.version ` +
    `FROM (${removed}) AS gone WHERE name = ? AND gone.version > removed_version`
  );
}
