import { randomUUID } from "node:crypto";
import { closeSync, existsSync, mkdtempSync, openSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { DocumentsError } from "../../api/errors.ts";
import { attempt } from "./access-through.ts";
import { Connection } from "./connection/connection.ts";
import { loadSqlite } from "./connection/load-sqlite.ts";
import { openReadingConnection } from "./connection/open-reader.ts";
import { explain, isBusy } from "./connection/sqlite-error.ts";
import { makeFolders } from "./file/make-folders.ts";
import { respectOwnership, takeOwnership } from "./file/ownership.ts";
import { setUpFile } from "./set-up-file.ts";
import { SqliteEngine } from "./sqlite-engine.ts";
import { maintain } from "./threads/maintenance.ts";
import { SlowReads } from "./threads/slow-reads.ts";
import { runBuild, runMaintenance } from "./threads/start-thread.ts";

/** The errors that name the file already. */
const namedCodes: ReadonlySet<string> = new Set(["ERR_DOCUMENTS_MISSING", "ERR_DOCUMENTS_OPEN"]);
const busyRetry = 20;
const ownerOnlyFolder = 0o700;
const ownerOnlyFile = 0o600;

/**
 * The files that are open in this process. State of the module, because it is the process that
 * holds the locks of a file: a second store of one would wait for the first without letting it run.
 */
const openFiles = new Set<string>();

/** How a file is opened. */
interface FileOptions {
  readonly busyTimeout: number;
  readonly create: boolean;
  readonly exclusive: boolean;
  /** Whether each commit waits for the disk. Default: true. */
  readonly isDurable?: boolean;
}

/** Opens the store in a file, which is created with its directory when it is not there. */
export async function openFile(path: string, options: FileOptions): Promise<SqliteEngine> {
  if (!options.create && !existsSync(path)) throw missing(path);
  const key = claim(path);
  let endOwnership: (() => void) | undefined;
  const release = (): void => {
    endOwnership?.();
    openFiles.delete(key);
  };
  try {
    createPrivately(path);
    endOwnership = own(path, options);
    const writer = await openPatiently(path, options);
    const reader = openReader(path, writer, options.busyTimeout);
    return new SqliteEngine(
      {
        writer,
        reader,
        release,
        maintain: (task) => runMaintenance(path, task),
        buildAway: (job, signal) => runBuild(resolve(path), job, signal),
        slowReads: new SlowReads(resolve(path)),
        openReader: () => openReadingConnection(path),
      },
      options,
    );
  } catch (error) {
    release();
    throw openError(path, error);
  }
}

/** Has the store for this process alone, or leaves it to one that has. */
function own(path: string, options: { readonly exclusive: boolean }): (() => void) | undefined {
  const lock = `${path}-lock`;
  if (options.exclusive) createPrivately(lock);
  if (!existsSync(lock)) return undefined;
  return options.exclusive ? takeOwnership(path) : respectOwnership(path);
}

/**
 * Opens a store that is gone when it is closed.
 *
 * SQLite's own memory databases either cannot be read by a second connection or show it changes
 * that are not committed. A file that nobody else can find, never waited for, does neither: the
 * operating system keeps it in memory as long as there is room.
 */
export async function openMemory(options: { readonly busyTimeout: number }): Promise<SqliteEngine> {
  const directory = mkdtempSync(join(tmpdir(), "fetchwork-"));
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  try {
    const path = join(directory, `${randomUUID()}.db`);
    const writer = await openPatiently(path, { ...options, create: true, isDurable: false });
    const reader = openReader(path, writer, options.busyTimeout);
    // An open file lives on without its name, and ends with the process. Windows refuses.
    if (process.platform !== "win32") remove();
    return new SqliteEngine(
      {
        writer,
        reader,
        release: remove,
        // A file without a name is open to nobody else.
        maintain: (task) => attempt(() => maintain(reader, task)),
      },
      options,
    );
  } catch (error) {
    remove();
    throw openError(directory, error);
  }
}

function claim(path: string): string {
  let key: string;
  try {
    makeFolders(dirname(path), ownerOnlyFolder);
    key = existsSync(path) ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path));
  } catch (error) {
    throw openError(path, error);
  }
  if (openFiles.has(key)) {
    throw new DocumentsError(
      "ERR_DOCUMENTS_OPEN",
      `cannot open ${resolve(path)}: it is already open in this process`,
    );
  }
  openFiles.add(key);
  return key;
}

/**
 * Creates a missing file for its owner alone; SQLite creates the files next to it with the same
 * mode.
 *
 * A file that is there is not touched: closing it would end every lock that this process has on it.
 */
function createPrivately(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, "a", ownerOnlyFile));
}

/** Repeats the opening while another process is creating the same store. */
async function openPatiently(
  path: string,
  { busyTimeout, ...options }: Omit<FileOptions, "exclusive">,
): Promise<Connection> {
  const deadline = performance.now() + busyTimeout;
  for (;;) {
    const { DatabaseSync } = loadSqlite();
    const database = new DatabaseSync(path, { timeout: 0 });
    try {
      const connection = new Connection(database);
      if (setUpFile(connection, path, options)) return connection;
      throw missing(path);
    } catch (error) {
      database.close();
      const cause = error instanceof DocumentsError ? error.cause : error;
      if (!isBusy(cause) || performance.now() >= deadline) throw error;
    }
    await wait(busyRetry);
  }
}

function openReader(path: string, writer: Connection, busyTimeout: number): Connection {
  try {
    const reader = openReadingConnection(path, busyTimeout);
    // Opens the write-ahead log, which cannot be done once the file has lost its name.
    reader.get("SELECT count(*) FROM sqlite_master", []);
    return reader;
  } catch (error) {
    writer.close();
    throw error;
  }
}

function missing(path: string): DocumentsError {
  return new DocumentsError("ERR_DOCUMENTS_MISSING", `there is no store at ${resolve(path)}`);
}

/** Makes an error of opening that names the file. */
export function openError(path: string, error: unknown): DocumentsError {
  if (error instanceof DocumentsError && namedCodes.has(error.code)) return error;
  const cause = error instanceof DocumentsError ? (error.cause ?? error) : error;
  const reason = cause instanceof Error ? explain(cause) : String(cause);
  return new DocumentsError("ERR_DOCUMENTS_OPEN", `cannot open ${path}: ${reason}`, { cause });
}
