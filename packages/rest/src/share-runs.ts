/**
 * Makes a function that does the work once for all who ask while it is under way: they wait until it is over, and share
 * the next run. So every answer is of a run that began after it was asked for, as if each had one of its own.
 *
 * It is for reads that cost more than their answer, such as counting what many lists count at a time. A run that fails
 * fails for all who share it.
 *
 * @example
 * ```ts
 * const countArticles = shareRuns(() => store.collection(article.collection).count());
 * ```
 */
export function shareRuns<R>(work: () => Promise<R>): () => Promise<R> {
  let running: Promise<void> | undefined;
  let next: Promise<R> | undefined;

  function begin(): Promise<R> {
    next = undefined;
    const run = work();
    running = run.then(over, over);
    return run;
  }

  function over(): void {
    if (next === undefined) running = undefined;
  }

  return () => (running === undefined ? begin() : (next ??= running.then(begin)));
}
