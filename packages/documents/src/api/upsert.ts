import type { Stored } from "./document.ts";
import type { FieldPath } from "./field-path.ts";

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
