import { TokenStoreError } from "../errors.ts";

/**
 * Waits for a store, and no longer than so many milliseconds.
 *
 * @throws TokenStoreError when the store takes longer
 */
export async function within<T>(result: Promise<T>, milliseconds: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const problem = `the token store did not respond within ${milliseconds} ms`;
  const timer = setTimeout(() => reject(new TokenStoreError(problem)), milliseconds);
  try {
    return await Promise.race([result, late]);
  } finally {
    clearTimeout(timer);
  }
}
