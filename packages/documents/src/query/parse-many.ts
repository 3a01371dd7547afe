import type { PurgeSelection } from "../api/changing.ts";
import { checkQueryOptions } from "../api/check-options.ts";
import type { CollectionDefinition } from "../api/definition.ts";
import { definitionError, type DocumentsTypeError, queryError } from "../api/errors.ts";
import { isPlainObject } from "../is-plain-object.ts";
import { type Filter, parseFilter } from "./filter.ts";

const timePattern = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

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

/** Checks which documents are to be removed. */
export function parseRemoval(selection: { readonly where: unknown }): Filter {
  checkQueryOptions("removeMany", selection, ["where"]);
  return parseFilter(selection.where);
}

/**
 * Checks what selects documents to be purged.
 *
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`
 */
export function parsePurge<T>(selection: PurgeSelection<T>): {
  readonly filter: Filter | undefined;
  readonly deletedBefore: string | undefined;
} {
  checkQueryOptions("purgeMany", selection, ["where", "deletedBefore"]);
  const { where, deletedBefore } = selection;
  if (deletedBefore !== undefined) checkUtcTime("deletedBefore", deletedBefore);
  return { filter: where === undefined ? undefined : parseFilter(where), deletedBefore };
}

/**
 * Checks a time of a caller.
 *
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`
 */
export function checkUtcTime(name: string, value: unknown): void {
  if (typeof value === "string" && timePattern.test(value)) return;
  throw queryError(`"${name}" must be a time in ISO 8601, in UTC`);
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
