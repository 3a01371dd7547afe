import type { Collection } from "./collection.ts";
import type { CollectionDefinition } from "./definition.ts";

/** Options of `transaction`. */
export interface TransactionOptions {
  /**
   * The time after which the transaction is rolled back, in milliseconds. It keeps one that never
   * ends from holding up every other change. Default: `10_000`.
   */
  readonly timeout?: number | undefined;
  /**
   * How many times more the transaction is tried when others were in its way, from 0; after that it
   * rejects with `ERR_DOCUMENTS_BUSY`. Each time the function runs again from its start, after a
   * random pause that grows from 2 to 100 ms.
   *
   * In PostgreSQL that follows a serialization failure (SQLSTATE 40001), a deadlock (40P01), and a
   * failover before the commit; in SQLite, where nobody else changes the store while the function
   * runs, only a wait of `busyTimeout` for another process, before the function began. A
   * `VersionError` is never tried again: the version came from outside, and would be wrong again.
   *
   * Default: as often as fit into `timeout` in PostgreSQL, `0` in SQLite.
   */
  readonly retries?: number | undefined;
}

/** A store as seen from inside a transaction. */
export interface Transaction {
  /** Gives the documents of a collection, with the changes of this transaction. */
  collection<T extends object>(definition: CollectionDefinition<T>): Collection<T>;
}
