import { existsSync } from "node:fs";
import { Connection } from "./connection.ts";
import { loadSqlite } from "./load-sqlite.ts";

const busyTimeout = 5000;

/** Opens another connection that reads the file of a connection; undefined when the file has no name. */
export function openAnother(connection: Connection): Connection | undefined {
  const path = connection.get("SELECT file FROM pragma_database_list WHERE name = 'main'", [])?.[0];
  if (typeof path !== "string" || path === "" || !existsSync(path)) return undefined;
  return openReader(path);
}

/** Opens a connection that reads a file. */
export function openReader(path: string): Connection {
  const { DatabaseSync } = loadSqlite();
  return new Connection(new DatabaseSync(path, { readOnly: true, timeout: busyTimeout }));
}
