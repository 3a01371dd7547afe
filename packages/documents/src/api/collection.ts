import type { Aggregating } from "./reading/aggregate.ts";
import type { Change, Projected, Stored } from "./document.ts";
import type { FieldChanging } from "./changing/field-changes.ts";
import type { FieldPath } from "./field-path.ts";
import type { CountQuery, FindQuery } from "./find-query.ts";
import type { Leasing } from "./lease.ts";
import type { Paging } from "./page.ts";
import type { SoftDeletion } from "./soft-deletion.ts";
import type { Streaming } from "./reading/stream.ts";
import type { UpdatingMany } from "./changing/update-many.ts";
import type { Upserting } from "./upsert.ts";
import type { Where } from "./where.ts";
import type { WriteOptions } from "./changing/write-options.ts";

/** Options of `insert`. */
export interface InsertOptions {
  /**
   * The id: 1 to 128 ASCII letters, digits and `-._~:@+=`. Default: a new UUIDv7.
   */
  readonly id?: string | undefined;
}

/**
 * The documents of one kind.
 *
 * Each promise of a change resolves after the change is durable. A rejected one changed nothing.
 */
export interface Collection<T>
  extends
    Aggregating<T>,
    FieldChanging<T>,
    Leasing<T>,
    Paging<T>,
    SoftDeletion<T>,
    Streaming<T>,
    UpdatingMany<T>,
    Upserting<T> {
  /** The collection's name. */
  readonly name: string;

  /**
   * Adds a document.
   *
   * @throws {InputError} For a document or an id that cannot be stored.
   * @throws {UniqueError} When a unique field or the id is taken.
   */
  insert(document: T, options?: InsertOptions): Promise<Stored<T>>;

  /** Adds documents, all or none, in the order of the list. Rejects as `insert` does. */
  insertMany(documents: readonly T[]): Promise<readonly Stored<T>[]>;

  /** Reads a document; `undefined` when there is none. */
  get(id: string): Promise<Stored<T> | undefined>;

  /** Reads documents in the order of the ids, with `undefined` where there is none. */
  getMany(ids: readonly string[]): Promise<readonly (Stored<T> | undefined)[]>;

  /**
   * Selects, sorts and pages documents.
   *
   * @throws {InputError} `ERR_DOCUMENTS_QUERY`
   */
  find(query?: FindQuery<T> & { readonly fields?: undefined }): Promise<readonly Stored<T>[]>;
  find<const F extends readonly FieldPath<T>[]>(
    query: FindQuery<T> & { readonly fields: F },
  ): Promise<readonly Projected<T, F>[]>;
  find(query: FindQuery<T>): Promise<readonly Projected<T>[]>;

  /**
   * Counts the documents that a filter and a search select, up to `max`. Without
   * either, SQLite reads a number that is kept.
   */
  count(query?: CountQuery<T>): Promise<number>;

  /**
   * Changes a document; resolves to `undefined` when there is none.
   *
   * The fields are merged at the top level, where `undefined` removes a field. A function gets the
   * stored document and returns the fields to change, which are merged in the same way. It may be
   * called more than once and while other changes wait, so it must be quick. An error that it
   * throws rejects the promise, and nothing is changed.
   *
   * @throws {VersionError} When `ifVersion` is another version than the document's.
   * @throws {UniqueError} When a unique field is taken.
   */
  update(
    id: string,
    change: Change<T> | ((stored: Stored<T>) => Change<T>),
    options?: WriteOptions,
  ): Promise<Stored<T> | undefined>;

  /**
   * Replaces a whole document by another one, or by the one that a function returns for the stored
   * document. Everything else is as in `update`.
   */
  replace(
    id: string,
    document: T | ((stored: Stored<T>) => T),
    options?: WriteOptions,
  ): Promise<Stored<T> | undefined>;

  /** Removes a document; resolves to whether there was one. See `softDelete` for what is kept. */
  remove(id: string, options?: WriteOptions): Promise<boolean>;

  /**
   * Removes every document that the filter matches (`{}` matches all); resolves to their number.
   *
   * PostgreSQL removes all of them or none. SQLite removes more than 250 in parts, each of them
   * durable, so that nobody waits for long: others see some removed, and what fails leaves the
   * rest. In a transaction it is all or none.
   */
  removeMany(selection: { readonly where: Where<T> }): Promise<number>;
}
