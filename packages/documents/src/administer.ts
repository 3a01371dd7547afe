import type { Administration } from "./administration.ts";
import { DocumentsTypeError } from "./errors.ts";
import { SqliteStore } from "./sqlite/sqlite-store.ts";
import type { Store } from "./store.ts";

/**
 * Gives the care of a store: its status, what opening it with other definitions would do, backups,
 * checks. It is there for stores in SQLite.
 *
 * @throws {DocumentsTypeError} `ERR_DOCUMENTS_OPTIONS` for a store of another engine, which has its
 *   own tools.
 * @example
 * ```ts
 * await administer(store).backup("backups/blog.db");
 * ```
 */
export function administer(store: Store): Administration {
  if (store instanceof SqliteStore) return store.administration;
  throw new DocumentsTypeError(
    "ERR_DOCUMENTS_OPTIONS",
    "Only stores in SQLite are administered here, expected the tools of the database",
  );
}
