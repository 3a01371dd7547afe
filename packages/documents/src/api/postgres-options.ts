/** Options of a store on PostgreSQL. */
export interface PostgresOptions {
  /** Maximum connections to one server for documents; up to 4 more exist. Default: `10`. */
  readonly poolSize?: number | undefined;
  /** The time to wait for one connection attempt, in milliseconds. Default: `5_000`. */
  readonly connectTimeout?: number | undefined;
  /**
   * Time to look for a primary before an operation fails with `ERR_DOCUMENTS_CONNECTION`, in
   * milliseconds. With several hosts it should outlast a failover. Default: `30_000` with several
   * hosts, `5_000` with one.
   */
  readonly failoverTimeout?: number | undefined;
  /** The time after which the server cancels a statement, in milliseconds. Default: `30_000`. */
  readonly statementTimeout?: number | undefined;
  /**
   * Whether the tables are spread over servers, which the store does where the database has the
   * extension Citus. Unique fields then go through a table of claims instead of unique indexes.
   * Nothing relies on advisory locks or on the numbers of transactions. Decided when the store is
   * created; another value is rejected later. Default: what the store was created with, which is
   * `false` for a new one.
   */
  readonly distributed?: boolean | undefined;
  /**
   * Whether statements are prepared. Must be `false` behind a pooler that lends a server's session
   * for one transaction, such as PgBouncer with `pool_mode = transaction`. Nothing then depends on
   * a session: no setting is made and nothing listened to. So `statementTimeout` applies inside
   * transactions only, and `changes` finds the changes of other processes every `pollInterval`. The
   * pooler needs at least three connections to the server. Default: `true`.
   */
  readonly prepare?: boolean | undefined;
}
