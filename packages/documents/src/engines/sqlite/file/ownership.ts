import type { DatabaseSync } from "node:sqlite";
import { DocumentsError } from "../../../api/errors.ts";
import { loadSqlite } from "../connection/load-sqlite.ts";
import { isBusy } from "../connection/sqlite-error.ts";

/**
 * Makes this process the only one that may open a store, until it ends or releases the lock.
 *
 * The lock is one of the operating system on a file next to the store. A transaction of SQLite
 * holds it, so it ends with the process however that ends. A store that another process opened
 * without asking for the lock is noticed when its file cannot be had alone.
 */
export function takeOwnership(path: string): () => void {
  return holdLock(path, (lock) => {
    lock.exec("BEGIN EXCLUSIVE");
    probe(path);
  });
}

/** Refuses a store that another process has for itself, and keeps others from that from then on. */
export function respectOwnership(path: string): () => void {
  return holdLock(path, (lock) => {
    // The read of a transaction holds a lock that many may share, and none besides one that owns.
    lock.exec("BEGIN");
    lock.prepare("SELECT count(*) FROM sqlite_master").get();
  });
}

function holdLock(path: string, take: (lock: DatabaseSync) => void): () => void {
  const lock = new (loadSqlite().DatabaseSync)(`${path}-lock`, { timeout: 0 });
  try {
    take(lock);
  } catch (error) {
    lock.close();
    if (isBusy(error)) throw takenError(path, error);
    throw error;
  }
  return () => lock.close();
}

/** In this mode SQLite takes the whole file, which fails while anybody else has it open. */
function probe(path: string): void {
  const { DatabaseSync } = loadSqlite();
  const probing = new DatabaseSync(path, { timeout: 0 });
  try {
    probing.exec("PRAGMA locking_mode = EXCLUSIVE");
    probing.prepare("SELECT count(*) FROM sqlite_master").get();
  } finally {
    probing.close();
  }
}

function takenError(path: string, cause: unknown): DocumentsError {
  return new DocumentsError(
    "ERR_DOCUMENTS_OPEN",
    `cannot open ${path}: another process has it open, and one of the two was opened with "exclusive"; ` +
      "a store that several processes write belongs on PostgreSQL (postgres://)",
    { cause },
  );
}
