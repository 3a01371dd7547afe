import type { Collection } from "./collection.ts";
import type { CollectionDefinition } from "./definition.ts";

/** Options of `transaction`. */
export interface TransactionOptions {
  /**
   * The time after which the transaction is rolled back, in milliseconds. Without it, one that
   * never ends would hold up every other change. Default: `10_000`.
   */
  readonly timeout?: number | undefined;
  /**
   * How often the transaction is retried after a conflict with others, from 0; after that it
   * rejects with `ERR_DOCUMENTS_BUSY`. Each time the function runs again from its start, after a
   * random pause of a few milliseconds.
   *
   * In PostgreSQL it is retried after a serialization failure (SQLSTATE 40001), a deadlock (40P01),
   * a wait that is too long (55P03), and a failover before the commit; in SQLite only after a wait
   * of `busyTimeout` for another process, before the function began. A `VersionError` is never
   * retried: the version came from outside, and would be wrong again.
   *
   * Apart from these retries, SQLite undoes a transaction that shares a commit and waits for more
   * than the store. It runs once more then.
   *
   * Default: as often as possible within `timeout` in PostgreSQL, `0` in SQLite.
   */
  readonly retries?: number | undefined;
}

/** A store as seen from inside a transaction. */
export interface Transaction {
  /** Returns the documents of a collection, with the changes of this transaction. */
  collection<T extends object>(definition: CollectionDefinition<T>): Collection<T>;
}
