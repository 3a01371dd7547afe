import { QueueFullError, Semaphore } from "@fetchwork/kit";
import { DocumentsError } from "../../api/errors.ts";

/** Maximum concurrent reads of this process that may scan; the same as on SQLite. */
const maxReads = 2;
const maxWaiting = 256;
/** Maximum time in milliseconds that a read waits for its turn. */
const maxWait = 30_000;

/**
 * Runs few of the reads that may scan a collection at the same time. The server would run all of
 * them at once, and all others would wait for processors and a connection.
 */
export class SlowReads {
  readonly #places = new Semaphore(maxReads, { maxWaiting });

  /** @throws {DocumentsError} `ERR_DOCUMENTS_BUSY` when too many wait, or for too long */
  async run<R>(read: () => Promise<R>): Promise<R> {
    if (!this.#places.tryAcquire()) await this.#wait();
    try {
      return await read();
    } finally {
      this.#places.release();
    }
  }

  async #wait(): Promise<void> {
    try {
      await this.#places.acquire(AbortSignal.timeout(maxWait));
    } catch (cause) {
      const reason =
        cause instanceof QueueFullError
          ? `more than ${maxWaiting} slow reads wait for their turn`
          : `a slow read waited for its turn for more than ${maxWait / 1000} s`;
      throw new DocumentsError("ERR_DOCUMENTS_BUSY", reason, { cause });
    }
  }
}
