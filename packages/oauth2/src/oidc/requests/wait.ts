/** Waits; rejects with the reason of the signal as soon as that is aborted. */
export async function wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const end = (): void => resolve(undefined);
  const timer = setTimeout(end, milliseconds);
  signal?.addEventListener("abort", end, { once: true });
  await promise;
  clearTimeout(timer);
  signal?.removeEventListener("abort", end);
  signal?.throwIfAborted();
}
