import type { Stored } from "./document.ts";
import type { FieldPath } from "./field-path.ts";

/** The document that an upsert changes: by its id, or by the fields of a unique index. */
export type UpsertOptions<T> = UpsertChange<T> &
  (
    | { readonly id: string; readonly by?: undefined }
    | {
        /**
         * The field, or the fields, of one of the definition's unique indexes. Their values in the
         * document select the stored one; none may be missing or null.
         */
        readonly by: FieldPath<T> | readonly FieldPath<T>[];
        readonly id?: undefined;
      }
  );

/** Change of an upsert for an existing document. */
export interface UpsertChange<T> {
  /**
   * Returns the new document for the stored one; quick and synchronous, as in `update`. Default:
   * the document that was passed replaces it.
   */
  readonly change?: ((stored: Stored<T>) => T) | undefined;
}

/** Adds a document or changes the existing one. */
export interface Upserting<T> {
  /**
   * Adds the document when there is none with the id, or with the values of the unique fields;
   * changes the existing one otherwise. Resolves to the stored document. One of any number of
   * upserts at the same time adds and the others change.
   *
   * @throws {InputError} For a document or an id that cannot be stored, for fields that are not
   *   those of a unique index, and for one that is missing or null.
   * @throws {UniqueError} When another unique field is taken.
   */
  upsert(document: T, options: UpsertOptions<T>): Promise<Stored<T>>;
}
