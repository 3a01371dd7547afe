import { isObject } from "@fetchwork/kit";
import type { Administration } from "./api/administration.ts";
import { DocumentsTypeError } from "./api/errors.ts";
import type { Store } from "./api/store.ts";

/** A store that can be cared for. */
interface Administered {
  readonly administration: Administration;
}

/**
 * Gives the care of a store: its status, what opening it with other definitions would do, moving
 * its documents, checks; in SQLite also backups.
 *
 * @throws {DocumentsTypeError} `ERR_DOCUMENTS_OPTIONS` for what `openStore` did not give.
 * @example
 * ```ts
 * await administer(store).backup("backups/blog.db");
 * ```
 */
export function administer(store: Store): Administration {
  // Asking for the class of each engine would load the driver of each.
  if (isAdministered(store)) return store.administration;
  throw new DocumentsTypeError(
    "ERR_DOCUMENTS_OPTIONS",
    'Only a store of "openStore" can be administered',
  );
}

function isAdministered(store: unknown): store is Administered {
  return (
    typeof store === "object" && store !== null && isObject(Reflect.get(store, "administration"))
  );
}
