import { Semaphore } from "@fetchwork/kit";

/** Limits how many steps of a task run at once in this process. Others wait in order. */
export class TaskSlots {
  readonly #slots = new Map<string, Semaphore>();

  /**
   * Resolves to a function that releases the slot. Rejects when the signal aborts while it waits.
   *
   * @param limit - Maximum number of steps; of the first call while no step of the task runs.
   */
  async take(taskId: string, limit: number, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const slots = this.#slots.get(taskId) ?? new Semaphore(limit);
    this.#slots.set(taskId, slots);
    await slots.acquire(signal);
    return () => {
      slots.release();
      if (slots.held === 0) this.#slots.delete(taskId);
    };
  }
}
