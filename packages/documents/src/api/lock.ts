/** Options of `lock`. */
export interface LockOptions {
  /**
   * The time to wait for the lock, in milliseconds; 0 does not wait. Default: `10_000`.
   */
  readonly wait?: number | undefined;
  /**
   * The time after which the lock of a process that stopped is released, in milliseconds from 100.
   * A process that is running renews it three times in that time. Default: `30_000`.
   */
  readonly expiry?: number | undefined;
}

/** Locks with names, across processes. */
export interface Locking {
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
}
