import { isObject } from "@fetchwork/kit";
import type { Administration } from "./api/administration.ts";
import { optionError } from "./api/errors.ts";
import type { Store } from "./api/store.ts";

/** A store that can be cared for. */
interface Administered {
  readonly administration: Administration;
}

/**
 * Returns the administration of a store: its status, what opening it with other definitions would
 * do, transfer of its documents, checks; in SQLite also backups.
 *
 * @throws {DocumentsTypeError} `ERR_DOCUMENTS_OPTIONS` for an object that is not from `openStore`.
 * @example
 * ```ts
 * await administer(store).backup("backups/blog.db");
 * ```
 */
export function administer(store: Store): Administration {
  // Asking for the class of each engine would load the driver of each.
  if (isAdministered(store)) return store.administration;
  throw optionError('only a store of "openStore" can be administered');
}

function isAdministered(store: unknown): store is Administered {
  return (
    typeof store === "object" && store !== null && isObject(Reflect.get(store, "administration"))
  );
}
