import { queryError } from "../api/errors.ts";
import { isPlainObject } from "../is-plain-object.ts";
import { checkQueryOptions } from "../api/check-options.ts";
import { type Filter, parseFilter } from "./filter.ts";

/**
 * Checks which documents are to be changed.
 *
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`
 */
export function parseUpdateMany(changes: {
  readonly where: unknown;
  readonly change: unknown;
}): Filter {
  checkQueryOptions("updateMany", changes, ["where", "change"]);
  if (typeof changes.change !== "function" && !isPlainObject(changes.change)) {
    throw queryError('"change" must be an object or a function');
  }
  return parseFilter(changes.where);
}
