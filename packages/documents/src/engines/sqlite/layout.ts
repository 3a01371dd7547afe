import type { Connection } from "./connection.ts";
import { quoteName } from "./sql.ts";

/** The table with a row for each collection. */
export const REGISTRY: string = quoteName("fetchwork:collections");
/** The feed of changes. */
export const CHANGES: string = quoteName("fetchwork:changes");
/** The position of each consumer, and that up to which the feed was trimmed. */
export const POSITIONS: string = quoteName("fetchwork:positions");
/** The leases of documents. */
export const LEASES: string = quoteName("fetchwork:leases");
/** The locks. */
export const LOCKS: string = quoteName("fetchwork:locks");
/** The migrations that ran. */
export const MIGRATIONS: string = quoteName("fetchwork:migrations");

/** Marks the file, so that no other program's database is taken for a store: "FWDR". */
export const APPLICATION_ID = 0x46574452;

/** The version of the layout below. */
export const FORMAT_VERSION = 3;

/** Creates the tables of an empty store, or those that an earlier format lacks, in a transaction. */
export function upgradeLayout(connection: Connection, from: number): void {
  if (from < 1) {
    connection.exec(`
      CREATE TABLE ${REGISTRY} (
        name TEXT PRIMARY KEY COLLATE NOCASE,
        documents INTEGER NOT NULL DEFAULT 0,
        search TEXT
      ) STRICT;
    `);
  }
  if (from < 2) {
    // AUTOINCREMENT, because a position must not come again after the last record was trimmed.
    connection.exec(`
      ALTER TABLE ${REGISTRY} ADD COLUMN expires TEXT;
      CREATE TABLE ${CHANGES} (
        position INTEGER PRIMARY KEY AUTOINCREMENT,
        collection TEXT NOT NULL,
        id TEXT NOT NULL,
        kind TEXT NOT NULL,
        version INTEGER NOT NULL,
        at TEXT NOT NULL,
        doc TEXT
      ) STRICT;
      CREATE TABLE ${POSITIONS} (name TEXT PRIMARY KEY, position INTEGER NOT NULL) STRICT;
      CREATE TABLE ${LEASES} (
        collection TEXT NOT NULL,
        id TEXT NOT NULL,
        token TEXT NOT NULL,
        until INTEGER NOT NULL,
        attempt INTEGER NOT NULL,
        PRIMARY KEY (collection, id)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE ${LOCKS} (
        name TEXT PRIMARY KEY,
        token TEXT NOT NULL,
        until INTEGER NOT NULL
      ) STRICT;
      CREATE TABLE ${MIGRATIONS} (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        at TEXT NOT NULL
      ) STRICT;
    `);
  }
  if (from < 3) connection.exec(`ALTER TABLE ${REGISTRY} ADD COLUMN geo TEXT`);
  connection.exec(`
    PRAGMA application_id = ${APPLICATION_ID};
    PRAGMA user_version = ${FORMAT_VERSION};
  `);
}
