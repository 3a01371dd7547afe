import type { ChangeRecord, ChangesOptions, ConsumeOptions } from "./changes.ts";
import type { Collection } from "./collection.ts";
import type { CollectionDefinition } from "./definition.ts";
import type { UnindexedQuery } from "./explanation.ts";
import type { LockOptions } from "./lock.ts";
import type { Migration } from "./migration.ts";
import type { PostgresOptions } from "./postgres-options.ts";
import type { Transaction, TransactionOptions } from "./transaction.ts";

/** Options of `openStore`. */
export interface StoreOptions {
  /**
   * Collections to create, and to give their indexes, before the store is used. A collection that
   * is not listed is prepared when it is first used. Default: none.
   */
  readonly collections?: readonly CollectionDefinition<object>[] | undefined;
  /**
   * Whether a missing store is created, with the folders of its file. With `false` a missing store
   * is `ERR_DOCUMENTS_MISSING`, and nothing is written. A store in memory is always created.
   * Default: `true`.
   */
  readonly create?: boolean | undefined;
  /**
   * The time to wait for another process that is writing, in milliseconds. Default: `5_000`.
   */
  readonly busyTimeout?: number | undefined;
  /**
   * Whether this process has a SQLite file for itself: opening fails when another process has
   * it open, and other processes cannot open it. Several processes that write one file stay
   * correct, but a busy one starves the others; they belong on PostgreSQL. Leaves an empty file
   * `<path>-lock` next to the store. Default: `false`.
   */
  readonly exclusive?: boolean | undefined;
  /**
   * Migrations. Pending ones run before this store is opened, each once, however many processes
   * start at the same time. They run before `collections` are prepared, so that they can make room
   * for a new unique index. Every one that ever ran must be listed. Default: none, and no check of
   * those that ran.
   */
  readonly migrations?: readonly Migration[] | undefined;
  /**
   * Receives each query that no index serves, once for each form of query: which fields it compares
   * and sorts by, whatever the values. For development; it must not throw. Default: none, at no
   * cost.
   *
   * @example
   * ```ts
   * const store = await openStore(url, {
   *   onUnindexedQuery: ({ warnings }) => console.warn(warnings.join("; ")),
   * });
   * ```
   */
  readonly onUnindexedQuery?: ((query: UnindexedQuery) => void) | undefined;
  /** Options of PostgreSQL, which other engines ignore. */
  readonly postgres?: PostgresOptions | undefined;
}

/** A set of collections in one place. */
export interface Store extends AsyncDisposable {
  /**
   * Returns the documents of a collection: the same object for the same definition.
   *
   * @throws {DocumentsTypeError} `ERR_DOCUMENTS_DEFINITION` when another definition of that name is
   *   in use.
   */
  collection<T extends object>(definition: CollectionDefinition<T>): Collection<T>;

  /**
   * Runs changes that all happen or not at all.
   *
   * The function is alone in changing the store until its promise settles; it reads its own
   * changes, everything else reads the state before it. When it throws, everything is rolled back
   * and the promise rejects with that error. Other changes wait, so it must not wait for anything
   * slow. It may run more than once, see `retries`, so it must change nothing but the store.
   *
   * @throws {DocumentsError} `ERR_DOCUMENTS_TRANSACTION` for a transaction, or a change through the
   *   store itself, inside the function; `ERR_DOCUMENTS_TIMEOUT` after `timeout`;
   *   `ERR_DOCUMENTS_BUSY` after a conflict with others, when no `retries` are left.
   */
  transaction<R>(
    work: (transaction: Transaction) => Promise<R> | R,
    options?: TransactionOptions,
  ): Promise<R>;

  /**
   * Reads the feed of what changed in the collections defined with `changes`, the oldest change
   * first. Each record is written in the transaction of its change. So none is missing and none is
   * of a change that was undone. In every process, the records of a document are in the order of
   * its versions, and no record is skipped. Records of different documents are in the order of the
   * commits on SQLite; on PostgreSQL those of overlapping transactions may be in the order of the
   * changes.
   *
   * @throws {DocumentsError} `ERR_DOCUMENTS_POSITION` when records after `after` were trimmed, so
   *   that the caller must read the collections again.
   * @throws {InputError} `ERR_DOCUMENTS_QUERY` for an invalid position.
   * @example
   * ```ts
   * for await (const change of store.changes({ after: await load() })) {
   *   await index(change);
   *   await save(change.position);
   * }
   * ```
   */
  changes(options?: ChangesOptions): AsyncIterable<ChangeRecord>;

  /**
   * Passes the changes to a handler and keeps its position in the store under a name: an outbox.
   *
   * Any number of processes may consume under one name. One of them does at a time, and another one
   * continues when it ends or no longer responds. A batch whose handler rejected, or whose process
   * died, is passed to a handler again. So a handler must accept changes that it has seen before.
   * Resolves when `signal` aborts, or with `atEnd: "end"` at the end of the feed; rejects with what
   * the handler rejects with; the position is then that before the batch.
   */
  consume(
    name: string,
    handler: (changes: readonly ChangeRecord[]) => Promise<void> | void,
    options?: ConsumeOptions,
  ): Promise<void>;

  /**
   * Removes records of changes made before a time, ISO 8601 in UTC, that every consumer has passed;
   * resolves to their number. They are never removed otherwise. A consumer that is no longer needed
   * holds them until it is passed on to the end: `consume(name, () => {}, { atEnd: "end" })`.
   */
  trimChanges(selection: { readonly before: string }): Promise<number>;

  /**
   * Runs work while nothing else, in this process or another, runs under the same name.
   *
   * The signal aborts when the lock was lost, because the process stood still, or could not reach
   * the store, for longer than `expiry`; work should then end without changing anything more.
   *
   * @throws {DocumentsError} `ERR_DOCUMENTS_LOCKED` when the lock is not free within `wait`;
   *   `ERR_DOCUMENTS_LEASE` when the lock was lost before the work ended.
   * @throws {DocumentsTypeError} `ERR_DOCUMENTS_OPTIONS` for a name that is not 1 to 200
   *   characters, and for an invalid option.
   */
  lock<R>(
    name: string,
    work: (signal: AbortSignal) => Promise<R> | R,
    options?: LockOptions,
  ): Promise<R>;

  /**
   * Finishes the changes and transactions that were begun, and closes the store. Later calls of
   * anything but `close` reject with `ERR_DOCUMENTS_CLOSED`; so may a change that began as the
   * first use of a collection which `collections` of `openStore` does not name.
   */
  close(): Promise<void>;
}
