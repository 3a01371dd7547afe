import { Connection } from "./connection.ts";
import { loadSqlite } from "./load-sqlite.ts";

/** Sets the size of the cache of a connection, up to which it grows. */
export const setCacheSize = "PRAGMA cache_size = -16384;";

/** Opens a connection that reads a file; `busyTimeout` is in milliseconds. */
export function openReadingConnection(path: string, busyTimeout = 5000): Connection {
  const { DatabaseSync } = loadSqlite();
  const connection = new Connection(
    new DatabaseSync(path, { readOnly: true, timeout: busyTimeout }),
  );
  connection.exec(setCacheSize);
  return connection;
}
