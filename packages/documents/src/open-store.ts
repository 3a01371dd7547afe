import { fileURLToPath } from "node:url";
import { DocumentsTypeError, hasCode, optionError } from "./api/errors.ts";
import type { Store, StoreOptions } from "./api/store.ts";
import type { Engine } from "./engines/engine.ts";
import { openError, openFile, openMemory } from "./engines/sqlite/open-sqlite.ts";
import { parseMigrations } from "./migrations/migrate.ts";
import { checkOptions } from "./api/check-options.ts";
import { DocumentStore } from "./store/document-store.ts";

const defaultBusyTimeout = 5000;

/**
 * Opens a store, and creates it when it is missing, unless `create` is `false`.
 *
 * `sqlite:data/blog.db` is a file, relative to the working directory (an absolute path and a
 * `file:` URL are possible too); `sqlite::memory:` is a store that is gone when it is closed.
 * `postgres://user:password@host/database` is a database of PostgreSQL, with `,` between hosts, of
 * which one at a time is the primary.
 *
 * @throws {DocumentsTypeError} `ERR_DOCUMENTS_OPTIONS` for an invalid URL or option.
 * @throws {DocumentsError} `ERR_DOCUMENTS_MISSING` when there is no store, with `create: false`;
 *   `ERR_DOCUMENTS_OPEN` when the file cannot be opened or is not a store;
 *   `ERR_DOCUMENTS_CONNECTION` when PostgreSQL cannot be reached;
 *   `ERR_DOCUMENTS_MIGRATION` when a migration failed or does not belong to the store;
 *   `ERR_DOCUMENTS_UNIQUE` when documents already break a new unique index.
 * @example
 * ```ts
 * const store = await openStore("sqlite:data/blog.db", { collections: [users] });
 * ```
 */
export async function openStore(url: string, options: StoreOptions = {}): Promise<Store> {
  checkOptions("openStore", options, [
    "collections",
    "create",
    "busyTimeout",
    "exclusive",
    "migrations",
    "onUnindexedQuery",
    "postgres",
  ]);
  const { collections = [], busyTimeout = defaultBusyTimeout } = options;
  const { create = true, exclusive = false, onUnindexedQuery } = options;
  if (!Number.isInteger(busyTimeout) || busyTimeout < 0 || busyTimeout >= 2 ** 31) {
    throw optionError('"busyTimeout" must be a whole number of milliseconds from 0 to 2147483647');
  }
  if (typeof create !== "boolean") throw optionError('"create" must be true or false');
  if (typeof exclusive !== "boolean") throw optionError('"exclusive" must be true or false');
  if (onUnindexedQuery !== undefined && typeof onUnindexedQuery !== "function") {
    throw optionError('"onUnindexedQuery" must be a function');
  }
  const migrations =
    options.migrations === undefined ? undefined : parseMigrations(options.migrations);
  const { engine, path } = await openEngine(url, options, { busyTimeout, create, exclusive });
  const store = new DocumentStore(engine, { onUnindexedQuery });
  try {
    if (migrations !== undefined) await store.migrate(migrations);
    await store.prepare(collections);
  } catch (error) {
    await store.close();
    const isDamaged = hasCode(error, "ERR_DOCUMENTS_ENGINE");
    throw isDamaged && path !== undefined ? openError(path, error) : error;
  }
  return store;
}

/** Opens the engine that a URL names, and returns the path of its file, if it has one. */
async function openEngine(
  url: string,
  { postgres }: StoreOptions,
  options: { readonly busyTimeout: number; readonly create: boolean; readonly exclusive: boolean },
): Promise<{ readonly engine: Engine; readonly path?: string }> {
  if (typeof url === "string" && /^postgres(?:ql)?:/i.test(url)) {
    // Loaded only when it is needed: it brings the driver.
    const { openPostgres } = await import("./engines/postgres/open-postgres.ts");
    return { engine: await openPostgres(url, { create: options.create, postgres }) };
  }
  const path = parseUrl(url);
  if (path === undefined) return { engine: await openMemory(options) };
  return { engine: await openFile(path, options), path };
}

/** Returns the path of a store's file; `undefined` for a store in memory. */
function parseUrl(url: string): string | undefined {
  if (typeof url !== "string")
    throw optionError(`the URL of a store must be a string, got ${typeof url}`);
  if (url === "sqlite::memory:") return undefined;
  if (url.startsWith("file:")) return parseFileUrl(url);
  if (!url.startsWith("sqlite:")) {
    // Only the scheme is shown: the rest of a database URL may hold a password.
    const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0] ?? "a URL without a scheme";
    throw optionError(
      `${scheme} is not supported, expected "sqlite:<path>", "sqlite::memory:", ` +
        '"file:///<path>" or "postgres://<user>@<host>/<database>"',
    );
  }
  if (/^sqlite:\/\/[^/]/.test(url)) {
    throw optionError(
      'expected the path directly after "sqlite:", without "//": "sqlite:data/blog.db", or ' +
        '"sqlite:/var/blog.db" for an absolute one',
    );
  }
  const path = url.slice("sqlite:".length).replace(/^\/\/(?=\/)/, "");
  if (path === "" || path.startsWith(":") || path.startsWith("//") || /[?#\0]/.test(path)) {
    throw optionError('"sqlite:" takes the path of a file, without "?" and "#", or ":memory:"');
  }
  return path;
}

function parseFileUrl(url: string): string {
  if (!url.startsWith("file:///")) throw optionError('a file URL must begin with "file:///"');
  try {
    const parsed = new URL(url);
    if (parsed.search !== "" || parsed.hash !== "")
      throw optionError("a file URL must not have a query or a fragment");
    return fileURLToPath(parsed);
  } catch (cause) {
    if (cause instanceof DocumentsTypeError) throw cause;
    throw optionError("the file URL is malformed", { cause });
  }
}
