import { InputError } from "../api/errors.ts";
import type { ReadOptions } from "../api/read-options.ts";
import { optionNames, refuseUnknown } from "../option-names.ts";

const knownOptions: ReadonlySet<string> = optionNames<ReadOptions>({ staleness: true });

/**
 * Checks the options of reading by id, and returns how old the result may be.
 *
 * @internal
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`
 */
export function parseReadOptions(options: ReadOptions | undefined): number {
  if (options === undefined) return 0;
  refuseUnknown(options, knownOptions, (message) => new InputError("ERR_DOCUMENTS_QUERY", message));
  return parseStaleness(options);
}

/**
 * Checks how old an answer may be.
 *
 * @internal
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`
 */
export function parseStaleness({ staleness = 0 }: { readonly staleness?: unknown }): number {
  if (typeof staleness === "number" && staleness >= 0) return staleness;
  throw new InputError(
    "ERR_DOCUMENTS_QUERY",
    '"staleness" must be a number of milliseconds from 0',
    "staleness",
  );
}
