import { TokenStoreError } from "../errors.ts";

/** Waits for a promise until a signal is aborted; what it stands for goes on. */
export async function raceSignal<T>(
  promise: Promise<T>,
  signal: AbortSignal | null | undefined,
): Promise<T> {
  if (signal === undefined || signal === null) return promise;
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/**
 * Waits for a store, and no longer than a number of milliseconds.
 *
 * @throws TokenStoreError when the store takes longer
 */
export function within<T>(result: Promise<T>, milliseconds: number): Promise<T> {
  const late = new AbortController();
  const problem = `the token store did not respond within ${milliseconds} ms`;
  const timer = setTimeout(() => late.abort(new TokenStoreError(problem)), milliseconds);
  return raceSignal(result, late.signal).finally(() => clearTimeout(timer));
}
