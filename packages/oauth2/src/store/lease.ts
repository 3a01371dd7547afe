import { pause as sleep } from "@fetchwork/kit";
import { checkOptions } from "../check-options.ts";
import { optionError, TokenStoreError } from "../errors.ts";

/** Another process took the lock over: it was held for too long without a sign of life. */
export class LostLockError extends TokenStoreError {}

/** Options of a store that processes share. */
export interface LeaseOptions {
  /**
   * After how many milliseconds without a sign of life a lock is free. There is none in a
   * `DocumentTokenStore`: longer than a refresh may take, or two processes make one; with DPoP that
   * is twice the timeout of the client. Default: 30_000; of a `DocumentTokenStore` 60_000.
   */
  readonly leaseTime?: number | undefined;
  /** Maximum wait for a lock in milliseconds, then a `TokenStoreError`. Default: 90_000. */
  readonly lockTimeout?: number | undefined;
}

/** The same, checked and complete. */
export interface Lease {
  readonly leaseTime: number;
  readonly lockTimeout: number;
}

/** One try to get a lock. */
export type LeaseAttempt = () => Promise<boolean>;

/**
 * Tries to get a lock until it succeeds. The intervals are partly random, and grow up to 100 ms.
 *
 * @throws TokenStoreError when it did not succeed within `lockTimeout` milliseconds
 */
export async function waitForLease(attempt: LeaseAttempt, lockTimeout: number): Promise<void> {
  const deadline = Date.now() + lockTimeout;
  for (let pause = 5; !(await attempt()); pause = Math.min(pause * 1.5, 100)) {
    if (Date.now() >= deadline) {
      throw new TokenStoreError(`the lock of the token was not released within ${lockTimeout} ms`);
    }
    await sleep(pause * (0.5 + Math.random()));
  }
}

/**
 * Reads the options of a store.
 *
 * @param store - Name of the store, for messages.
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION`
 */
export function readLease(store: string, options: LeaseOptions, defaultTime: number): Lease {
  checkOptions(store, options, ["leaseTime", "lockTimeout"]);
  const { leaseTime = defaultTime, lockTimeout = 90_000 } = options;
  for (const [name, value] of Object.entries({ leaseTime, lockTimeout })) {
    const minimum = name === "leaseTime" ? 1 : 0;
    if (!Number.isFinite(value) || value < minimum) throw optionError(name, value, "milliseconds");
  }
  return { leaseTime, lockTimeout };
}
