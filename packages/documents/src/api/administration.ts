import type { Collection } from "./collection.ts";
import type { CollectionDefinition } from "./definition.ts";
import type { ExplainedQuery, ExplainOptions, Explanation } from "./explanation.ts";
import type { Migration, PlanStep, StoreStatus } from "./migration.ts";
import type { Loading, Snapshot } from "./transfer.ts";

/** Result of `check`. */
export interface CheckResult {
  /** Whether nothing is wrong. */
  readonly ok: boolean;
  /** Faults, at most 100 lines; names and ids, never values. */
  readonly problems: readonly string[];
}

/** Status, maintenance and transfer of a store. */
export interface Administration {
  /** Returns what the store holds. */
  status(): Promise<StoreStatus>;

  /**
   * Returns what opening the store with these definitions and migrations would do, and changes
   * nothing. Indexes, search texts and collections that no definition names are reported and not
   * dropped.
   */
  plan(wanted: {
    readonly collections?: readonly CollectionDefinition<object>[] | undefined;
    readonly migrations?: readonly Migration[] | undefined;
  }): Promise<readonly PlanStep[]>;

  /**
   * Waits until the indexes and search texts are built that collections in use need. Opening a
   * store returns earlier: what takes long is built while the store is in use. On SQLite this
   * applies to search texts, on PostgreSQL also to indexes that are not unique. Until then a search
   * finds everything too, but reads each document whose text is missing.
   */
  built(): Promise<void>;

  /**
   * Drops indexes and search texts that these definitions do not ask for, and returns them. `plan`
   * reports them as `unused-index` and `unused-search`. Call it when no program with other
   * definitions runs: one that does becomes slow, its changes may fail for a minute, and it builds
   * its search texts again. Search texts that no program used for 7 days are dropped without this
   * call.
   */
  dropUnused(collections: readonly CollectionDefinition<object>[]): Promise<readonly PlanStep[]>;

  /**
   * Returns which indexes serve a query, without running it. Warnings name what reads or sorts more
   * documents as the collection grows. `after` and the position of a page make no difference.
   *
   * Both come from the form of the query and the definition, so they hold for a large collection:
   * PostgreSQL may read a small one through, or by another index.
   *
   * @throws {InputError} `ERR_DOCUMENTS_QUERY` for a query that the method would refuse.
   * @throws {DocumentsTypeError} `ERR_DOCUMENTS_DEFINITION` for a collection that is not one of the
   * store.
   * @example
   * ```ts
   * const { scans, warnings } = await administer(store).explain(posts, {
   *   where: { status: "draft" },
   *   sort: ["-createdAt"],
   *   limit: 20,
   * });
   * ```
   */
  explain<T extends object>(
    collection: Collection<T> | CollectionDefinition<T>,
    query?: ExplainedQuery<T>,
    options?: ExplainOptions,
  ): Explanation;

  /**
   * Copies the store, as it is at one moment, into a new SQLite file, while it is in use. For a
   * store in PostgreSQL use `fetchwork db backup` or `pg_dump`.
   *
   * @throws {DocumentsTypeError} `ERR_DOCUMENTS_OPTIONS` for a store in PostgreSQL.
   * @throws {DocumentsError} `ERR_DOCUMENTS_OPEN` when the file exists or cannot be written.
   */
  backup(path: string): Promise<void>;

  /**
   * Reads everything and returns what is damaged. On PostgreSQL, the content of indexes is compared
   * where the extension `amcheck` is there and the role may call `bt_index_check`.
   */
  check(): Promise<CheckResult>;

  /**
   * Runs work that reads the store as it is at one moment, while it is in use. Changes of a store
   * in memory wait until work ends.
   *
   * @example
   * ```ts
   * await administer(store).snapshot(async ({ records }) => {
   *   for await (const { id, document } of records("users")) console.log(id, document);
   * });
   * ```
   */
  snapshot<R>(work: (snapshot: Snapshot) => Promise<R>): Promise<R>;

  /**
   * Runs work that adds documents as they were in another store: all of them, or none when work
   * throws. Other changes may wait until it ends.
   */
  load<R>(work: (loading: Loading) => Promise<R>): Promise<R>;

  /**
   * Writes one row and removes it again, which shows whether the store takes changes: for a health
   * check. Callers within a second share one probe, so that it may be called often.
   *
   * @throws {DocumentsError} What a change would reject with, such as `ERR_DOCUMENTS_FULL`.
   */
  probe(): Promise<void>;

  /** Removes expired documents now; resolves to their number. It also happens by itself. */
  sweep(): Promise<number>;
}
