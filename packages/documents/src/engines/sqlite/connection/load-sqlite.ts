import { DocumentsError } from "../../../api/errors.ts";

type Sqlite = typeof import("node:sqlite");

/**
 * Loads `node:sqlite` without its experimental warning.
 *
 * Node 22 prints that warning when the module is loaded. Only this one is held back, and only
 * while the module loads, which happens at once.
 *
 * @throws {DocumentsError} `ERR_DOCUMENTS_OPEN` on a Node without it.
 */
export function loadSqlite(): Sqlite {
  const emit: unknown = Reflect.get(process, "emitWarning");
  const quiet = (...args: readonly unknown[]): void => {
    const [warning, type] = args;
    if (type === "ExperimentalWarning" && String(warning).includes("SQLite")) return;
    if (typeof emit === "function") Reflect.apply(emit, process, args);
  };
  process.emitWarning = quiet;
  try {
    const sqlite: Sqlite | undefined = process.getBuiltinModule("node:sqlite");
    if (sqlite !== undefined) return sqlite;
  } finally {
    Reflect.set(process, "emitWarning", emit);
  }
  throw new DocumentsError(
    "ERR_DOCUMENTS_OPEN",
    `Node ${process.versions.node} has no node:sqlite, expected Node 22.19 or later`,
  );
}
