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

/** Marks the file, so that no other program's database is taken for a store: "FWDR". */
export const applicationId = 0x46574452;

/** The version of the layout below. */
export const formatVersion = 6;

/** Creates the tables of an empty store, in a transaction. */
export function createTables(connection: Connection): void {
  // AUTOINCREMENT, because a position must not come again after the last record was trimmed. A
  // generation of search texts is built when `done` reached `goal`, a number of a row.
  connection.exec(`
    CREATE TABLE ${registryTable} (
      name TEXT PRIMARY KEY COLLATE NOCASE,
      documents INTEGER NOT NULL DEFAULT 0,
      expires TEXT,
      geo TEXT
    ) STRICT;
    CREATE TABLE ${changesTable} (
      position INTEGER PRIMARY KEY AUTOINCREMENT,
      collection TEXT NOT NULL,
      id TEXT NOT NULL,
      kind TEXT NOT NULL,
      version INTEGER NOT NULL,
      at TEXT NOT NULL,
      doc TEXT,
      checksum INTEGER NOT NULL
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
    CREATE TABLE ${generationsTable} (
      collection TEXT NOT NULL,
      derived TEXT NOT NULL,
      suffix TEXT NOT NULL,
      done INTEGER NOT NULL,
      goal INTEGER NOT NULL,
      used INTEGER NOT NULL,
      PRIMARY KEY (collection, derived)
    ) STRICT, WITHOUT ROWID;
    PRAGMA application_id = ${applicationId};
    PRAGMA user_version = ${formatVersion};
  `);
}
