import { join } from "node:path";
import { pause } from "../calls/retry-policy.ts";
import { AgentError } from "../errors.ts";
import type { ConfinedFolder } from "./confined-folder.ts";

// https://sqlite.org/rescode.html
const busy = new Set([5, 6]);

/** Milliseconds between two looks at a lock that somebody has. */
const between = 25;

/**
 * Takes a lock that others on this computer, and in this process, cannot have at the same time;
 * undefined: somebody has it.
 *
 * It is a lock of the operating system, held by a transaction of SQLite. So it ends with the
 * process however that ends. The file stays, empty. The returned function releases the lock.
 */
export async function takeLock(
  folder: ConfinedFolder,
  path: string,
): Promise<(() => void) | undefined> {
  // Made beforehand by the way that follows no link. Not opened when it is there: POSIX takes all
  // locks of a process from a file as soon as the process closes it once.
  await folder.makeOwn(path);
  const { DatabaseSync } = loadSqlite();
  const lock = new DatabaseSync(join(folder.root, path), { timeout: 0 });
  try {
    lock.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (cause) {
    lock.close();
    const code = cause instanceof Error && "errcode" in cause ? Number(cause.errcode) : 0;
    if (busy.has(code & 0xff)) return undefined;
    throw new AgentError("ERR_AGENT_WRITE", `${path} cannot be locked`, { cause });
  }
  return () => lock.close();
}

/** Waits for a lock, holds it while `use` runs, and releases it. */
export async function whileLocked<T>(
  folder: ConfinedFolder,
  { path, signal }: { readonly path: string; readonly signal: AbortSignal },
  use: () => Promise<T>,
): Promise<T> {
  let unlock = await takeLock(folder, path);
  while (unlock === undefined) {
    await pause(between, signal);
    unlock = await takeLock(folder, path);
  }
  try {
    return await use();
  } finally {
    unlock();
  }
}

/** Node 22 warns when it loads the module; only that one warning is held back. */
function loadSqlite(): typeof import("node:sqlite") {
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
