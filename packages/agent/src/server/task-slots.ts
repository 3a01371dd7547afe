interface Slots {
  taken: number;
  readonly queue: (() => void)[];
}

/** Limits how many steps of a task run at the same time in this process. Who waits comes in turn. */
export class TaskSlots {
  readonly #slots = new Map<string, Slots>();

  /** Resolves to what gives the slot back. Rejects when the signal aborts before there is one. */
  take(taskId: string, limit: number, signal: AbortSignal): Promise<() => void> {
    const slots = this.#slots.get(taskId) ?? { taken: 0, queue: [] };
    this.#slots.set(taskId, slots);
    const release = (): void => {
      slots.taken -= 1;
      const next = slots.queue.shift();
      if (next !== undefined) next();
      else if (slots.taken === 0) this.#slots.delete(taskId);
    };
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        if (slots.taken === 0) this.#slots.delete(taskId);
        return reject(signal.reason as Error);
      }
      const stop = (): void => {
        slots.queue.splice(slots.queue.indexOf(start), 1);
        reject(signal.reason as Error);
      };
      const start = (): void => {
        signal.removeEventListener("abort", stop);
        slots.taken += 1;
        resolve(release);
      };
      if (slots.taken < limit) return start();
      slots.queue.push(start);
      signal.addEventListener("abort", stop, { once: true });
    });
  }
}
