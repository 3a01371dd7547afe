import type {
  AggregateGroup,
  AggregateQuery,
  AggregateValues,
  DistinctQuery,
  MemberValue,
} from "./aggregate.ts";
import type {
  Increments,
  InsertOptions,
  ManyChanges,
  PurgeSelection,
  UpsertOptions,
  WriteOptions,
} from "./changing.ts";
import type { Change, Projected, Stored } from "./document.ts";
import type { FieldPath, FieldValue } from "./field-path.ts";
import type { CountQuery, FindQuery, StreamQuery } from "./find-query.ts";
import type { ClaimQuery, Lease } from "./lease.ts";
import type { Page, PageQuery } from "./page.ts";
import type { Where } from "./where.ts";

/**
 * The documents of one kind.
 *
 * Each promise of a change resolves after the change is durable. A rejected one changed nothing.
 */
export interface Collection<T> {
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
   * Reads a page and the cursor of the next one.
   *
   * A cursor holds the last document's values in the fields of the order. The next page starts
   * after them, whatever was added or removed since, and costs as much as the first one. It is not
   * encrypted: anyone who has it can read those values. It belongs to the collection and to the
   * order; the filter may differ.
   *
   * @throws {InputError} `ERR_DOCUMENTS_QUERY` for an invalid query, and for a cursor of another
   *   collection or order.
   */
  page(query?: PageQuery<T> & { readonly fields?: undefined }): Promise<Page<Stored<T>>>;
  page<const F extends readonly FieldPath<T>[]>(
    query: PageQuery<T> & { readonly fields: F },
  ): Promise<Page<Projected<T, F>>>;
  page(query: PageQuery<T>): Promise<Page<Projected<T>>>;

  /**
   * Reads everything that a query selects, in parts of 200 documents, and reads no further once the
   * loop ends. An invalid query rejects when the loop begins.
   *
   * Each part is consistent, and all of them are not: a document that is added, removed or moved
   * during the loop may be seen or not. One that moves behind the place of the loop is seen twice.
   * A sort by fields that do not change, such as the default, returns each document once. A sort
   * that no index serves sorts everything for each part.
   *
   * @throws {InputError} `ERR_DOCUMENTS_QUERY`
   * @example
   * ```ts
   * for await (const user of store.collection(users).stream({ where: { role: "user" } })) {
   *   await sendLetter(user.email);
   * }
   * ```
   */
  stream(
    query?: StreamQuery<T> & { readonly fields?: undefined },
  ): AsyncGenerator<Stored<T>, void, undefined>;
  stream<const F extends readonly FieldPath<T>[]>(
    query: StreamQuery<T> & { readonly fields: F },
  ): AsyncGenerator<Projected<T, F>, void, undefined>;
  stream(query: StreamQuery<T>): AsyncGenerator<Projected<T>, void, undefined>;

  /**
   * Counts the documents that a filter and a search select, up to `max`. Without
   * either, SQLite reads a number that is kept.
   */
  count(query?: CountQuery<T>): Promise<number>;

  /**
   * Groups documents by the values of fields and computes values of each group.
   *
   * Values of different JSON types are different groups: `true` is not 1. A sum is the exact sum of
   * the decimal numbers: `0.1 + 0.2` is `0.3`, and the order of the documents does not matter; it
   * is `Infinity` beyond the largest number.
   *
   * @throws {InputError} `ERR_DOCUMENTS_QUERY`
   * @example
   * ```ts
   * const best = await store.collection(orders).aggregate({
   *   where: { state: "paid" },
   *   by: "customer",
   *   values: { orders: "count", revenue: { sum: "price" } },
   *   sort: ["-revenue"],
   *   limit: 10,
   * });
   * ```
   */
  aggregate<const V extends AggregateValues<FieldPath<T>>, const B extends FieldPath<T> = never>(
    query: AggregateQuery<T, B, V>,
  ): Promise<readonly AggregateGroup<T, B, V>[]>;

  /**
   * Returns the different values of a field in the order of `sort`; of lists those of the members.
   * Null, lists and objects are left out. More than 100,000 different values are rejected.
   *
   * @throws {InputError} `ERR_DOCUMENTS_QUERY`
   */
  distinct<const P extends FieldPath<T>>(
    field: P,
    query?: DistinctQuery<T>,
  ): Promise<readonly MemberValue<FieldValue<Stored<T>, P>>[]>;

  /**
   * Changes a document; resolves to `undefined` when there is none.
   *
   * The fields are merged at the top level, where `undefined` removes a field. A function gets the
   * stored document and returns the fields to change, which are merged in the same way. Without any,
   * as with `{}`, nothing is changed. It may be called more than once and while other changes wait,
   * so it must be quick. An error that it throws rejects the promise, and nothing is changed.
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

  /**
   * Adds numbers to fields, as decimal numbers: 0.1 and 0.2 make 0.3. A field that is missing or
   * null counts as 0. Of any number of increments at the same time none is lost. `ifVersion` and
   * `lease` are as in `update`. Resolves to the document, or to `undefined` when there is none.
   *
   * @throws {InputError} `ERR_DOCUMENTS_VALUE` when a field is not a number, or would be infinite.
   * @example
   * ```ts
   * await collection.increment(id, { views: 1, "stats.likes": -2 });
   * ```
   */
  increment(
    id: string,
    fields: Increments<T>,
    options?: WriteOptions,
  ): Promise<Stored<T> | undefined>;

  /**
   * Changes every document that the filter matches, each at most once; resolves to their number.
   *
   * The documents are looked for first, and changed in parts of 250 that are durable one by one. So
   * nobody waits for long: others see some changed, and what fails leaves the rest as it was. A
   * document that no longer matches when its turn comes stays as it is. One that matches later is
   * not looked for. In a transaction it is all or none.
   *
   * @throws {UniqueError} When a unique field is taken.
   */
  updateMany(changes: ManyChanges<T>): Promise<number>;

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

  /**
   * Brings a removed document back, with the next version; resolves to `undefined` when no removed
   * one has the id. See the option `softDelete`.
   *
   * @throws {UniqueError} When another document took one of its unique fields in the meantime.
   */
  restore(id: string): Promise<Stored<T> | undefined>;

  /** Removes a removed document for good; resolves to whether there was one. */
  purge(id: string): Promise<boolean>;

  /** Deletes removed documents for good, on SQLite in parts; resolves to their number. */
  purgeMany(selection?: PurgeSelection<T>): Promise<number>;

  /**
   * Claims documents that are not leased, for background work that any number of processes share.
   * Processes that claim at the same time get different documents. A lease does not prevent others
   * from changing the document. With the option `lease`, a change is made only while that lease is
   * held.
   */
  claim(query?: ClaimQuery<T>): Promise<readonly Lease<T>[]>;

  /** Extends a lease by `expiry` milliseconds from now; resolves to whether it was still held. */
  renew(lease: Pick<Lease<T>, "document" | "token">, expiry?: number): Promise<boolean>;

  /** Releases a lease; resolves to whether it was still held. */
  release(lease: Pick<Lease<T>, "document" | "token">): Promise<boolean>;
}
