import { DocumentsError } from "../../api/errors.ts";
import type { Connection } from "./connection/connection.ts";
import { setCacheSize } from "./connection/open-reader.ts";
import { applicationId, createTables, formatVersion } from "./statements/tables.ts";

/** Pages of the log at which a commit brings them into the file. */
const checkpointPages = 1000;
const maxIdleLogBytes = 64 * 1024 * 1024;

/** Sets up the writing connection and tables; false for an empty file not to be created. */
export function setUpFile(
  connection: Connection,
  path: string,
  { create, isDurable = true }: { readonly create: boolean; readonly isDurable?: boolean },
): boolean {
  const isNew = isEmpty(connection, path);
  if (isNew && !create) return false;
  // FULL waits for the disk at each commit; NORMAL, the usual choice, only at checkpoints.
  connection.exec(`PRAGMA synchronous = ${isDurable ? "FULL" : "OFF"}`);
  const [mode] = connection.get("PRAGMA journal_mode = WAL", []) ?? [];
  if (mode !== "wal") {
    throw cannotOpen(path, "its file system does not allow a write-ahead log");
  }
  connection.exec(`
    PRAGMA trusted_schema = OFF;
    ${setCacheSize}
    PRAGMA wal_autocheckpoint = ${checkpointPages};
    PRAGMA journal_size_limit = ${maxIdleLogBytes};
  `);
  if (isNew) {
    connection.exec("BEGIN IMMEDIATE");
    try {
      // Another process may have been first.
      if (isEmpty(connection, path)) createTables(connection);
      connection.exec("COMMIT");
    } catch (error) {
      connection.rollback();
      throw error;
    }
  }
  return true;
}

/** Refuses what is not a store of ours, or has another format; tells whether the file is empty. */
function isEmpty(connection: Connection, path: string): boolean {
  // In one statement: another process may create the tables in between.
  const text =
    "SELECT application_id, (SELECT count(*) FROM sqlite_master) FROM pragma_application_id";
  const [application, objects] = connection.get(text, []) ?? [];
  if (application !== applicationId) {
    if (application === 0 && objects === 0) return true;
    throw cannotOpen(path, "it is not a store, but the database of another program");
  }
  const format = Number(connection.get("PRAGMA user_version", [])?.[0]);
  if (format !== formatVersion) {
    const known = `this version knows format ${formatVersion} only`;
    throw cannotOpen(path, `it has format ${format}, and ${known}`);
  }
  return false;
}

function cannotOpen(path: string, problem: string): DocumentsError {
  return new DocumentsError("ERR_DOCUMENTS_OPEN", `cannot open ${path}: ${problem}`);
}
