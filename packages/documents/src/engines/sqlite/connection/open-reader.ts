import { Connection } from "./connection.ts";
import { loadSqlite } from "./load-sqlite.ts";

/** Opens a connection that reads a file; `busyTimeout` is in milliseconds. */
export function openReadingConnection(path: string, busyTimeout = 5000): Connection {
  const { DatabaseSync } = loadSqlite();
  return new Connection(new DatabaseSync(path, { readOnly: true, timeout: busyTimeout }));
}
