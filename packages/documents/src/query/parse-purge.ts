import type { CollectionDefinition } from "../api/definition.ts";
import type { Stored } from "../api/document.ts";
import { DocumentsTypeError, InputError } from "../api/errors.ts";
import { type Filter, parseFilter } from "./filter.ts";
import { optionNames, refuseUnknown } from "../option-names.ts";
import { checkUtcTime } from "./utc-time.ts";
import type { Where } from "../api/where.ts";

/**
 * Which documents to read of a collection that is defined with `softDelete`: those that are there,
 * only those that were removed, or both.
 */
export type Deleted = "exclude" | "include" | "only";

/** Selects documents to be removed for good. */
export interface PurgeSelection<T> {
  /** The filter. Default: every removed document. */
  readonly where?: Where<T> | undefined;
  /** Only those that were removed before this time, ISO 8601 in UTC. Default: at any time. */
  readonly deletedBefore?: string | undefined;
}

/**
 * What a collection defined with `softDelete` does more. There, `remove` and `removeMany` keep the
 * document with the time in `deletedAt`. It is not found, counted or changed any more unless
 * `deleted` asks for it; its id stays taken, its unique fields are free at once.
 *
 * Every method rejects with `ERR_DOCUMENTS_DEFINITION` when the definition has no `softDelete`.
 */
export interface SoftDeletion<T> {
  /**
   * Brings a removed document back, with the next version; resolves to `undefined` when no removed
   * one has the id.
   *
   * @throws {UniqueError} When another document took one of its unique fields meanwhile.
   */
  restore(id: string): Promise<Stored<T> | undefined>;

  /** Removes a removed document for good; resolves to whether there was one. */
  purge(id: string): Promise<boolean>;

  /** Removes removed documents for good; resolves to their number. */
  purgeMany(selection?: PurgeSelection<T>): Promise<number>;
}

/**
 * A selection of documents to be purged that was checked.
 *
 * @internal
 */
export interface ParsedPurge {
  readonly filter: Filter | undefined;
  readonly deletedBefore: string | undefined;
}

const PURGE_OPTIONS: ReadonlySet<string> = optionNames<PurgeSelection<unknown>>({
  where: true,
  deletedBefore: true,
});

/**
 * Checks what selects documents to be purged.
 *
 * @internal
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`
 */
export function parsePurge<T>(selection: PurgeSelection<T>): ParsedPurge {
  refuseUnknown(
    selection,
    PURGE_OPTIONS,
    (message) => new InputError("ERR_DOCUMENTS_QUERY", message),
  );
  const { where, deletedBefore } = selection;
  if (deletedBefore !== undefined) checkUtcTime("deletedBefore", deletedBefore);
  return { filter: where === undefined ? undefined : parseFilter(where), deletedBefore };
}

/**
 * Says that a definition without `softDelete` would lose, or show again, what was removed.
 *
 * @internal
 */
export function keepsRemoved({ name }: CollectionDefinition<unknown>): DocumentsTypeError {
  return new DocumentsTypeError(
    "ERR_DOCUMENTS_DEFINITION",
    `The collection "${name}" keeps removed documents, expected "softDelete" until they are purged`,
  );
}

/**
 * Refuses what only collections with soft deletion can do.
 *
 * @internal
 * @throws {DocumentsTypeError} `ERR_DOCUMENTS_DEFINITION`
 */
export function requireSoftDelete({ name, softDelete }: CollectionDefinition<unknown>): void {
  if (softDelete === true) return;
  throw new DocumentsTypeError(
    "ERR_DOCUMENTS_DEFINITION",
    `The collection "${name}" is not defined with "softDelete"`,
  );
}
