/** Promises that a server waits for when it stops. */
export class PendingPromises {
  readonly #promises = new Set<Promise<void>>();
  readonly #reportError: (error: unknown) => void;

  constructor(reportError: (error: unknown) => void) {
    this.#reportError = reportError;
  }

  /** Adds a promise until it settles; a rejection is reported. */
  readonly add = (promise: Promise<unknown>): void => {
    const settled = Promise.resolve(promise)
      .then(
        () => undefined,
        (error: unknown) => this.#reportError(error),
      )
      .catch((failure: unknown) => console.error(failure))
      .finally(() => this.#promises.delete(settled));
    this.#promises.add(settled);
  };

  /** Resolves when all have settled, those included that are added until then. */
  async drain(): Promise<void> {
    while (this.#promises.size > 0) await Promise.all(this.#promises);
  }
}
