import type { Change, Stored } from "./document.ts";
import type { FieldPath, FieldValue } from "./field-path.ts";
import type { Where } from "./where.ts";

/** Options of `insert`. */
export interface InsertOptions {
  /**
   * The id: 1 to 128 ASCII letters, digits and `-._~:@+=`. Default: a new UUIDv7.
   */
  readonly id?: string | undefined;
}

/** Conditions under which a change is made. */
export interface WriteOptions {
  /**
   * The version that the document must have; else the operation rejects with a `VersionError`. A
   * document as it was read stands for its version and for when it was added: another one that was
   * added with its id later is refused too. Default: any version.
   */
  readonly ifVersion?:
    number | { readonly version: number; readonly createdAt: string } | undefined;
  /**
   * The token of a lease that must still be held; else the operation rejects with
   * `ERR_DOCUMENTS_LEASE`. Default: none.
   */
  readonly lease?: string | undefined;
}

/** Numbers to add, by the paths of fields; at most 100. */
export type Increments<T> = string extends keyof T
  ? Readonly<Record<string, number>>
  : { readonly [P in FieldPath<T> as IfEvery<T, P, number>]?: number };

/** The path, if each value of the field that is not missing is one of these. */
type IfEvery<T, P extends string, V> = NonNullable<FieldValue<T, P>> extends V ? P : never;

/** The documents to change, and how. */
export interface ManyChanges<T> {
  /** The filter; `{}` selects every document. */
  readonly where: Where<T>;
  /** Fields to merge into each document, or a function that returns them, as in `update`. */
  readonly change: Change<T> | ((stored: Stored<T>) => Change<T>);
}

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

/** Selects documents to be removed for good. */
export interface PurgeSelection<T> {
  /** The filter. Default: every removed document. */
  readonly where?: Where<T> | undefined;
  /** Only those that were removed before this time, ISO 8601 in UTC. Default: at any time. */
  readonly deletedBefore?: string | undefined;
}
