import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { DocumentsError, optionError } from "../api/errors.ts";
import type { LockOptions } from "../api/lock.ts";
import { checkOptions } from "../api/check-options.ts";

/** Locks of an engine: a row for each that is held. */
export interface LockTable {
  /** Takes a lock that is free; tells whether it was. */
  takeLock(lock: HeldLock & { readonly expiry: number }): Promise<boolean>;
  /** Extends a lock from now on; tells whether it was still held. */
  renewLock(lock: HeldLock & { readonly expiry: number }): Promise<boolean>;
  /** Releases a lock. */
  releaseLock(lock: HeldLock): Promise<void>;
}

/** A lock, and the proof of who has it. */
export interface HeldLock {
  readonly name: string;
  readonly token: string;
}

const defaultWait = 10_000;
const defaultExpiry = 30_000;
const minExpiry = 100;
const maxTime = 0x7fff_ffff;
const maxName = 200;
const minRetry = 10;
const maxRetry = 200;

/** Runs work under a lock; see `Store.lock`. */
export async function holdLock<R>(
  table: LockTable,
  name: string,
  work: (signal: AbortSignal) => Promise<R> | R,
  options: LockOptions & { readonly signal?: AbortSignal | undefined } = {},
): Promise<R> {
  checkOptions("lock", options, ["wait", "expiry", "signal"]);
  const { signal } = options;
  const { wait: maxWait = defaultWait, expiry = defaultExpiry } = options;
  checkLock(name, { maxWait, expiry });
  const lock = { name, token: randomUUID(), expiry };
  const heldAt = await take(table, lock, { maxWait, signal });
  const lost = new AbortController();
  const stopKeeping = keep(table, lock, { heldAt, lost });
  try {
    const result = await work(lost.signal);
    if (lost.signal.aborted) throw lostError(name);
    return result;
  } finally {
    stopKeeping();
    // Where this fails the lock expires; the outcome of the work is what the caller must know.
    await table.releaseLock(lock).catch(() => undefined);
  }
}

/** Waits for a lock; returns the time from which it is held. */
async function take(
  table: LockTable,
  lock: HeldLock & { readonly expiry: number },
  { maxWait, signal }: { readonly maxWait: number; readonly signal: AbortSignal | undefined },
): Promise<number> {
  const deadline = performance.now() + maxWait;
  for (let pause = minRetry; ; pause = Math.min(pause * 2, maxRetry)) {
    const heldAt = performance.now();
    const isTaken = await table.takeLock(lock);
    if (isTaken && performance.now() - heldAt < lock.expiry) return heldAt;
    // A grant that took longer than the lock lasts may be somebody else's lock by now.
    if (isTaken) await table.releaseLock(lock).catch(() => undefined);
    const left = deadline - performance.now();
    if (left <= 0 || signal?.aborted === true) {
      throw new DocumentsError(
        "ERR_DOCUMENTS_LOCKED",
        `the lock ${JSON.stringify(lock.name)} was not free within ${maxWait} ms`,
      );
    }
    // The signal only ends the pause; the next round tells.
    await wait(Math.min(left, pause), undefined, { signal }).catch(() => undefined);
  }
}

/**
 * Renews a lock until the function that it returns is called. A renewal that failed is tried again;
 * one that came too late loses the lock, and so does its time when no renewal got through: it may
 * be somebody else's then, whom this process only cannot hear of.
 */
function keep(
  table: LockTable,
  lock: HeldLock & { readonly expiry: number },
  { heldAt, lost }: { readonly heldAt: number; readonly lost: AbortController },
): () => void {
  let renewedAt = heldAt;
  let timer: NodeJS.Timeout | undefined;
  const lose = (): void => {
    lost.abort(lostError(lock.name));
  };
  const left = (): number => renewedAt + lock.expiry - performance.now();
  const watch = (): void => {
    // A response that arrived while the process was busy is heard first.
    timer = setTimeout(() => setImmediate(check), Math.max(0, left()));
  };
  const check = (): void => {
    if (timer === undefined) return;
    if (left() <= 0) lose();
    else watch();
  };
  const renew = async (): Promise<void> => {
    const sentAt = performance.now();
    const isHeld = await table.renewLock(lock).catch(() => undefined);
    if (isHeld === false) lose();
    if (isHeld === true) renewedAt = sentAt;
  };
  const renewal = setInterval(() => void renew(), lock.expiry / 3);
  watch();
  return () => {
    clearInterval(renewal);
    clearTimeout(timer);
    timer = undefined;
  };
}

function checkLock(
  name: unknown,
  { maxWait, expiry }: { readonly maxWait: number; readonly expiry: number },
): void {
  if (typeof name !== "string" || name === "" || name.length > maxName || !name.isWellFormed()) {
    throw optionError(`the name of a lock must have 1 to ${maxName} characters`);
  }
  if (!(maxWait >= 0 && maxWait <= maxTime)) {
    throw optionError(`"wait" must be a number of milliseconds from 0 to ${maxTime}`);
  }
  if (!(expiry >= minExpiry && expiry <= maxTime)) {
    throw optionError(`"expiry" must be a number of milliseconds from ${minExpiry} to ${maxTime}`);
  }
}

function lostError(name: string): DocumentsError {
  return new DocumentsError("ERR_DOCUMENTS_LEASE", `the lock ${JSON.stringify(name)} was lost`);
}
