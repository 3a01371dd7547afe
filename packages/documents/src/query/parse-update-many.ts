import { InputError } from "../api/errors.ts";
import type { ManyChanges } from "../api/changing/update-many.ts";
import { isPlainObject } from "../is-plain-object.ts";
import { optionNames, refuseUnknown } from "../option-names.ts";
import { type Filter, parseFilter } from "./filter.ts";

const knownOptions: ReadonlySet<string> = optionNames<ManyChanges<object>>({
  where: true,
  change: true,
});

/**
 * Checks which documents are to be changed.
 *
 * @internal
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`
 */
export function parseUpdateMany(changes: {
  readonly where: unknown;
  readonly change: unknown;
}): Filter {
  refuseUnknown(changes, knownOptions, wrong);
  if (typeof changes.change !== "function" && !isPlainObject(changes.change)) {
    throw wrong('"change" must be an object or a function');
  }
  return parseFilter(changes.where);
}

function wrong(message: string): InputError {
  return new InputError("ERR_DOCUMENTS_QUERY", message);
}
