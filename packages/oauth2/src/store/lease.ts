import { pause as sleep } from "@fetchwork/kit";
import { optionError, TokenStoreError } from "../errors.ts";

/** Another process took the lock over: it was held for too long without a sign of life. */
export class LostLockError extends TokenStoreError {}

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
 * Checks the times of a lock.
 *
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION`
 */
export function checkLease(times: {
  readonly leaseTime: number;
  readonly lockTimeout: number;
}): void {
  for (const [name, value] of Object.entries(times)) {
    const minimum = name === "leaseTime" ? 1 : 0;
    if (!Number.isFinite(value) || value < minimum) throw optionError(name, value, "milliseconds");
  }
}
