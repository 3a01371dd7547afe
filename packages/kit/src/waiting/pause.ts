/**
 * Resolves after a delay.
 *
 * @param delay - Milliseconds, at most 2³¹ - 1, as for `setTimeout`.
 * @param signal - Ends the wait: the call rejects with the reason of the signal, and leaves no
 * timer behind.
 */
export async function pause(delay: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const stop = (): void => reject(signal?.reason);
  signal?.addEventListener("abort", stop, { once: true });
  const timer = setTimeout(resolve, delay);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}
