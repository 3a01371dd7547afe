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
