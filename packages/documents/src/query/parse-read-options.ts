import { InputError } from "../api/errors.ts";
import { optionNames, refuseUnknown } from "../option-names.ts";

/** Options of reading. */
export interface ReadOptions {
  /**
   * How old the answer may be, in milliseconds: with `replicas`, a replica that is known to be no
   * further behind than that may give it. Changes of this process that are younger may be missing.
   * Inside of a transaction, and on engines without replicas, everything is read as it is. Default:
   * 0, the state of the primary.
   */
  readonly staleness?: number | undefined;
}

const OPTIONS: ReadonlySet<string> = optionNames<ReadOptions>({ staleness: true });

/**
 * Checks the options of reading by id, and gives how old the answer may be.
 *
 * @internal
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`
 */
export function parseReadOptions(options: ReadOptions | undefined): number {
  if (options === undefined) return 0;
  refuseUnknown(options, OPTIONS, (message) => new InputError("ERR_DOCUMENTS_QUERY", message));
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
    '"staleness" is a number of milliseconds from 0',
    "staleness",
  );
}
