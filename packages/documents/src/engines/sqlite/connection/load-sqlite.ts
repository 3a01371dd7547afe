type Sqlite = typeof import("node:sqlite");

/**
 * Loads `node:sqlite` without its experimental warning.
 *
 * Node 22 prints that warning when the module is loaded. Only this one is held back, and only
 * while the module loads, which happens at once.
 *
 * @internal
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
    return process.getBuiltinModule("node:sqlite");
  } finally {
    Reflect.set(process, "emitWarning", emit);
  }
}
