import { TokenStoreError } from "../errors.ts";
import { raceSignal } from "./race-signal.ts";

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
