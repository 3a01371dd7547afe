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

  /** Resolves when the task changes in this process, or in time. Rejects on abort. */
  changed(taskId: string, milliseconds: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      const end = (): void => {
        clearTimeout(timer);
        forget();
        signal.removeEventListener("abort", stop);
      };
      const done = (): void => {
        end();
        resolve();
      };
      const stop = (): void => {
        end();
        reject(signal.reason as Error);
      };
      const timer = setTimeout(done, milliseconds);
      const forget = this.listen(taskId, (live) => {
        if (live === undefined) done();
      });
      signal.addEventListener("abort", stop, { once: true });
    });
  }
}
