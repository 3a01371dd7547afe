/** Options of {@link backoffDelay}. */
export interface BackoffOptions {
  /** Milliseconds after the first failure, before the jitter. */
  readonly baseDelay: number;
  /** Maximum in milliseconds, before the jitter. */
  readonly maxDelay: number;
  /** How many times longer the delay is after each further failure. Default: 2. */
  readonly factor?: number | undefined;
  /**
   * Minimum and maximum of the random number that multiplies the delay. So callers that failed
   * together do not come back together. Default: `[0, 1]` ("full jitter"); `[1, 1]` is none.
   */
  readonly jitter?: readonly [minimum: number, maximum: number] | undefined;
}

/**
 * Computes how long to wait before the next attempt: a delay that grows exponentially up to a
 * maximum, times a random number.
 *
 * @param failures - Number of failed attempts so far, at least 1.
 * @returns Milliseconds, not rounded.
 */
export function backoffDelay(failures: number, options: BackoffOptions): number {
  const { baseDelay, maxDelay, factor = 2, jitter = [0, 1] } = options;
  // Finite, because 0 times infinity is not a number.
  const growth = Math.min(factor ** (failures - 1), Number.MAX_VALUE);
  const [minimum, maximum] = jitter;
  return Math.min(maxDelay, baseDelay * growth) * (minimum + Math.random() * (maximum - minimum));
}
