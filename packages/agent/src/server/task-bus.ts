/** Text that a step writes just now. */
export interface LiveText {
  readonly stepId: string;
  readonly text: string;
}

type Listener = (live: LiveText | undefined) => void;

/** Tells waiters in this process that a task changed. Other processes poll the store. */
export class TaskBus {
  readonly #listeners = new Map<string, Set<Listener>>();

  /** Hears of changes of a task (`undefined`) and of what its steps write. Returns what ends it. */
  listen(taskId: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(taskId) ?? new Set();
    this.#listeners.set(taskId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(taskId) === listeners) {
        this.#listeners.delete(taskId);
      }
    };
  }

  /** Says that a task changed, or what a step writes. */
  publish(taskId: string, live?: LiveText): void {
    for (const listener of this.#listeners.get(taskId) ?? []) listener(live);
  }

  /**
   * Resolves when the task changes in this process, after a time, or on abort.
   *
   * @param joinTexts milliseconds after which it also resolves once a step writes. Default: it
   * does not
   */
  changed(
    taskId: string,
    signal: AbortSignal,
    { time, joinTexts }: { readonly time: number; readonly joinTexts?: number | undefined },
  ): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      let soon: NodeJS.Timeout | undefined;
      const done = (): void => {
        clearTimeout(late);
        clearTimeout(soon);
        forget();
        signal.removeEventListener("abort", done);
        resolve();
      };
      const late = setTimeout(done, time);
      const forget = this.listen(taskId, (live) => {
        if (live === undefined) done();
        else if (joinTexts !== undefined) soon ??= setTimeout(done, joinTexts);
      });
      signal.addEventListener("abort", done, { once: true });
    });
  }
}
