import { FetchworkError } from "../errors/fetchwork-error.ts";

/** Options of {@link Semaphore}. */
export interface SemaphoreOptions {
  /** Maximum callers that wait for a permit; others are rejected. Default: none. */
  readonly maxWaiting?: number | undefined;
}

/** Too many callers wait for a permit already. */
export class QueueFullError extends FetchworkError {
  override readonly name: string = "QueueFullError";
  declare readonly code: "ERR_KIT_QUEUE_FULL";

  constructor(maxWaiting: number) {
    super("ERR_KIT_QUEUE_FULL", `${maxWaiting} callers wait already, which is the maximum`);
  }
}

/** Removed entries kept until the queue is compacted: `shift` moves a long queue each time. */
const maxRemoved = 1024;

/**
 * Limits how many callers do something at the same time. The others wait, first come, first served.
 *
 * @example
 * ```ts
 * const uploads = new Semaphore(4, { maxWaiting: 100 });
 * await uploads.acquire(request.signal);
 * try {
 *   await upload(request);
 * } finally {
 *   uploads.release();
 * }
 * ```
 */
export class Semaphore {
  readonly #maxWaiting: number;
  readonly #queue: (() => void)[] = [];
  /** Index of the caller that waits longest. */
  #head = 0;
  #free: number;
  #held = 0;

  /** @param permits - Maximum number of callers that hold a permit at the same time; at least 1. */
  constructor(permits: number, { maxWaiting = Infinity }: SemaphoreOptions = {}) {
    this.#free = permits;
    this.#maxWaiting = maxWaiting;
  }

  /** Number of callers that hold a permit. */
  get held(): number {
    return this.#held;
  }

  /** Number of callers that wait for a permit. */
  get waiting(): number {
    return this.#queue.length - this.#head;
  }

  /** Takes a permit if one is free, and returns whether it did. */
  tryAcquire(): boolean {
    if (!(this.#free >= 1)) return false;
    this.#free -= 1;
    this.#held += 1;
    return true;
  }

  /**
   * Resolves when the caller has a permit, which it returns by {@link release}.
   *
   * @param signal - Ends the wait: the call rejects with the reason of the signal, and holds no
   * permit.
   * @throws QueueFullError `ERR_KIT_QUEUE_FULL`
   */
  async acquire(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.tryAcquire()) return;
    if (this.waiting >= this.#maxWaiting) throw new QueueFullError(this.#maxWaiting);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const stop = (): void => {
      this.#queue.splice(this.#queue.indexOf(start, this.#head), 1);
      reject(signal?.reason);
    };
    const start = (): void => {
      signal?.removeEventListener("abort", stop);
      resolve();
    };
    this.#queue.push(start);
    signal?.addEventListener("abort", stop, { once: true });
    return promise;
  }

  /** Returns a permit. The caller that waits longest gets it. */
  release(): void {
    const start = this.#queue[this.#head];
    if (start === undefined) {
      this.#free += 1;
      this.#held -= 1;
      return;
    }
    this.#head += 1;
    if (this.#head === maxRemoved || this.waiting === 0) {
      this.#queue.splice(0, this.#head);
      this.#head = 0;
    }
    start();
  }
}
