import type { CollectionDefinition } from "../api/definition.ts";
import type { Stored } from "../api/document.ts";
import { InputError } from "../api/errors.ts";
import { type FieldPath, parsePath, valueAt } from "../api/field-path.ts";
import type { Filter } from "./filter.ts";
import { optionNames, refuseUnknown } from "../option-names.ts";

/** Says which document an upsert means: by its id, or by the fields of a unique index. */
export type UpsertOptions<T> = UpsertChange<T> &
  (
    | { readonly id: string; readonly by?: undefined }
    | {
        /**
         * The field, or the fields, of one of the definition's unique indexes. Their values in the
         * document say which stored one is meant; none may be missing or null.
         */
        readonly by: FieldPath<T> | readonly FieldPath<T>[];
        readonly id?: undefined;
      }
  );

/** What becomes of a document that is there. */
export interface UpsertChange<T> {
  /**
   * Makes the new document of the stored one; quick and synchronous, as in `update`. Default: the
   * given document takes its place.
   */
  readonly change?: ((stored: Stored<T>) => T) | undefined;
}

/** Adds a document or changes the one that is there. */
export interface Upserting<T> {
  /**
   * Adds the document when there is none with the id, or with the values of the unique fields;
   * changes the one that is there otherwise. Resolves to the outcome, which has version 1 exactly
   * when it was added (or brought back from a soft deletion it has a higher one). Of any number of
   * upserts at the same time one adds and the others change.
   *
   * @throws {InputError} For a document or an id that cannot be stored, for fields that are not
   *   those of a unique index, and for one that is missing or null.
   * @throws {UniqueError} When another unique field is taken.
   */
  upsert(document: T, options: UpsertOptions<T>): Promise<Stored<T>>;
}

const OPTIONS: ReadonlySet<string> = optionNames<UpsertOptions<unknown>>({
  id: true,
  by: true,
  change: true,
});

/**
 * Checks which document an upsert means: its id, or the values of a unique index's fields.
 *
 * @internal
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`
 */
export function parseUpsert(
  definition: CollectionDefinition<unknown>,
  document: unknown,
  options: { readonly id?: unknown; readonly by?: unknown },
): { readonly id: string | undefined; readonly filter: Filter } {
  refuseUnknown(options, OPTIONS, wrong);
  const { id, by } = options;
  if ((id === undefined) === (by === undefined)) throw wrong('an upsert takes "id" or "by"');
  if (id !== undefined) {
    if (typeof id !== "string") throw wrong('"id" is a string');
    return { id, filter: { kind: "any", filters: [] } };
  }
  const given: readonly unknown[] = Array.isArray(by) ? by : [by];
  const fields = definition.unique.find(
    (unique) => unique.length === given.length && unique.every((field) => given.includes(field)),
  );
  if (fields === undefined) throw wrong('"by" names no unique index of the definition');
  const filters = fields.map((field): Filter => {
    const path = parsePath(field);
    const value = valueAt(document, path.segments);
    if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") {
      throw wrong(`the field "${field}" of "by" is no string, number or boolean`);
    }
    return { kind: "equals", path, values: [value] };
  });
  return { id: undefined, filter: { kind: "all", filters } };
}

function wrong(reason: string): InputError {
  return new InputError("ERR_DOCUMENTS_QUERY", `The upsert is wrong: ${reason}`);
}
