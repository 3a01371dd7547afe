import { DocumentsError } from "../../api/errors.ts";
import type { Connection } from "./connection/connection.ts";
import {
  applicationId,
  createSearchTables,
  formatVersion,
  hasSearchTables,
  upgradeTables,
} from "./statements/tables.ts";

const cacheKib = 16 * 1024;
/** As many pages of the log are brought into the file by the commit that finds them there. */
const checkpointPages = 1000;
const maxIdleLogBytes = 64 * 1024 * 1024;

/** Sets up the writing connection of a file and creates its tables; returns false for an empty file that is not to be created. */
export function setUpFile(
  connection: Connection,
  path: string,
  { create }: { readonly create: boolean },
): boolean {
  const format = checkFile(connection, path);
  if (format === 0 && !create) return false;
  const [mode] = connection.get("PRAGMA journal_mode = WAL", []) ?? [];
  if (mode !== "wal") {
    throw new DocumentsError(
      "ERR_DOCUMENTS_OPEN",
      `cannot open ${path}: its file system does not allow a write-ahead log`,
    );
  }
  // FULL waits for the disk at each commit; NORMAL, the usual choice, only at checkpoints.
  connection.exec(`
    PRAGMA synchronous = FULL;
    PRAGMA trusted_schema = OFF;
    PRAGMA cache_size = -${cacheKib};
    PRAGMA wal_autocheckpoint = ${checkpointPages};
    PRAGMA journal_size_limit = ${maxIdleLogBytes};
  `);
  if (format < formatVersion || !hasSearchTables(connection)) {
    connection.exec("BEGIN IMMEDIATE");
    try {
      // Another process may have been first.
      const current = checkFile(connection, path);
      if (current < formatVersion) upgradeTables(connection, current);
      createSearchTables(connection);
      connection.exec("COMMIT");
    } catch (error) {
      connection.rollback();
      throw error;
    }
  }
  return true;
}

/** Refuses what is not a store of ours; tells its format, 0 while the file is empty. */
function checkFile(connection: Connection, path: string): number {
  const application = connection.get("PRAGMA application_id", [])?.[0];
  if (application !== applicationId) {
    const objects = connection.get("SELECT count(*) FROM sqlite_master", [])?.[0];
    if (application === 0 && objects === 0) return 0;
    throw new DocumentsError(
      "ERR_DOCUMENTS_OPEN",
      `cannot open ${path}: it is not a store, but the database of another program`,
    );
  }
  const format = Number(connection.get("PRAGMA user_version", [])?.[0]);
  if (format > formatVersion) {
    throw new DocumentsError(
      "ERR_DOCUMENTS_OPEN",
      `cannot open ${path}: it has format ${format}, this version knows formats up to ${formatVersion}`,
    );
  }
  return format;
}
