import { quoteName } from "../../dialect.ts";
import {
  changesTable,
  locksTable,
  migrationsTable,
  positionsTable,
  registryTable,
} from "../../own-tables.ts";
import type { Connection } from "../connection/connection.ts";

/** The table with the leases of documents. */
export const leasesTable: string = quoteName("fetchwork:leases");

/** Marks the file, so that no other program's database is taken for a store: "FWDR". */
export const applicationId = 0x46574452;

/** The version of the layout below. */
export const formatVersion = 4;

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
  connection.exec(`
    PRAGMA application_id = ${applicationId};
    PRAGMA user_version = ${formatVersion};
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
