/**
 * Settles as `work` does, or with the outcome of `onTimeout` when that takes longer.
 *
 * @param milliseconds - `Infinity` waits as long as it takes.
 * @param onTimeout - Returns the value to resolve with, or throws the reason to reject with.
 */
export function withTimeout<T>(
  work: Promise<T>,
  milliseconds: number,
  onTimeout: () => T,
): Promise<T> {
  if (milliseconds === Infinity) return work;
  let timer: ReturnType<typeof setTimeout>;
  const end = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  return Promise.race([work, end.then(onTimeout)]).finally(() => clearTimeout(timer));
}
