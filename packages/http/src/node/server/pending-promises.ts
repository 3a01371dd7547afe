/** Promises that keep a server from having stopped. */
export class PendingPromises {
  readonly #promises = new Set<Promise<void>>();
  readonly #reportError: (error: unknown) => void;

  constructor(reportError: (error: unknown) => void) {
    this.#reportError = reportError;
  }

  /** Holds a promise until it settles; a rejection is reported. */
  add(promise: Promise<unknown>): void {
    const settled = Promise.resolve(promise)
      .then(
        () => undefined,
        (error: unknown) => this.#reportError(error),
      )
      .catch((failure: unknown) => console.error(failure))
      .finally(() => this.#promises.delete(settled));
    this.#promises.add(settled);
  }

  /** Resolves when none is left, also of those that were added meanwhile. */
  async drain(): Promise<void> {
    while (this.#promises.size > 0) await Promise.all(this.#promises);
  }
}
