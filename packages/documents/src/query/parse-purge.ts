import type { CollectionDefinition } from "../api/definition.ts";
import { definitionError, type DocumentsTypeError } from "../api/errors.ts";
import type { PurgeSelection } from "../api/changing.ts";
import { checkQueryOptions } from "../api/check-options.ts";
import { type Filter, parseFilter } from "./filter.ts";
import { checkUtcTime } from "./utc-time.ts";

/** A selection of documents to be purged that was checked. */
export interface ParsedPurge {
  readonly filter: Filter | undefined;
  readonly deletedBefore: string | undefined;
}

/**
 * Checks what selects documents to be purged.
 *
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`
 */
export function parsePurge<T>(selection: PurgeSelection<T>): ParsedPurge {
  checkQueryOptions("purgeMany", selection, ["where", "deletedBefore"]);
  const { where, deletedBefore } = selection;
  if (deletedBefore !== undefined) checkUtcTime("deletedBefore", deletedBefore);
  return { filter: where === undefined ? undefined : parseFilter(where), deletedBefore };
}

/** Says that a definition without `softDelete` would lose, or show again, what was removed. */
export function keepsRemoved({ name }: CollectionDefinition<unknown>): DocumentsTypeError {
  return definitionError(
    `the collection "${name}" keeps removed documents, expected "softDelete" until they are purged`,
  );
}

/**
 * Refuses what only collections with soft deletion can do.
 *
 * @throws {DocumentsTypeError} `ERR_DOCUMENTS_DEFINITION`
 */
export function requireSoftDelete({ name, softDelete }: CollectionDefinition<unknown>): void {
  if (softDelete === true) return;
  throw definitionError(`the collection "${name}" is not defined with "softDelete"`);
}
