import { pause } from "@fetchwork/kit";
import { hasCode, InputError } from "../api/errors.ts";
import type { Store } from "../api/store.ts";
import { type JobTables, tablesOf } from "./job-record.ts";
import { type Ended, type EndOptions, settle, settleDone } from "./settle.ts";

/** Outcome of writing the end of an attempt. */
type Written = "lost" | "written";

interface Waiting {
  readonly ended: Ended;
  readonly options: EndOptions;
  /** Aborts when the lease is lost, after which the end cannot be written. */
  readonly lost: AbortSignal;
  readonly resolve: (written: Written) => void;
  readonly reject: (error: InputError) => void;
}

const maxBatch = 100;
const retryPause = 250;

/**
 * Writes the ends of attempts, as many as there are in one transaction: the wait for the disk is
 * what a short job costs most.
 */
export class Finisher {
  readonly #store: Store;
  readonly #onError: (error: unknown) => void;
  readonly #waiting: Waiting[] = [];
  #isFlushing = false;

  constructor(store: Store, onError: (error: unknown) => void) {
    this.#store = store;
    this.#onError = onError;
  }

  /**
   * Resolves when the end is durable, or when the lease was lost. Writes that the store refuses are
   * tried again until then.
   *
   * @throws {InputError} When the result cannot be stored; nothing was written then.
   */
  finish(ended: Ended, options: EndOptions, lost: AbortSignal): Promise<Written> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ended, options, lost, resolve, reject });
      // Not before the turn of the event loop ends, so that what ends together is written together.
      if (this.#isFlushing) return;
      this.#isFlushing = true;
      setImmediate(() => void this.#flush());
    });
  }

  async #flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, maxBatch);
      try {
        await this.#write(batch);
      } catch (error) {
        const isClosed = hasCode(error, "ERR_DOCUMENTS_CLOSED");
        if (!isClosed) this.#onError(error);
        this.#putBack(batch, isClosed ? "closed" : "open");
        if (this.#waiting.length > 0) await pause(retryPause);
      }
    }
    this.#isFlushing = false;
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    const alike = batch.filter(isPlain);
    const others = batch.filter((each) => !isPlain(each));
    if (alike.length > 0 && !(await this.#settleDone(alike))) others.push(...alike);
    if (others.length > 0) await this.#settle(others);
  }

  /** Resolves to whether it could be written for all at once. */
  async #settleDone(batch: readonly Waiting[]): Promise<boolean> {
    try {
      await this.#store.transaction((transaction) => settleDone(tablesOf(transaction), batch));
    } catch (error) {
      // The failure of one job.
      if (error instanceof InputError || hasCode(error, "ERR_DOCUMENTS_LEASE")) return false;
      throw error;
    }
    for (const { resolve } of batch) resolve("written");
    return true;
  }

  async #settle(batch: readonly Waiting[]): Promise<void> {
    const reports = await this.#store.transaction((transaction) => {
      const tables = tablesOf(transaction);
      return Promise.all(batch.map((each) => settleOne(tables, each)));
    });
    for (const report of reports) report();
  }

  /** Queues again the ends that may still be written. */
  #putBack(batch: readonly Waiting[], store: "closed" | "open"): void {
    for (const each of batch) {
      if (store === "closed" || each.lost.aborted) each.resolve("lost");
      else this.#waiting.push(each);
    }
  }
}

/** Whether a job is done, and no other one waits for it. */
function isPlain({ ended: { lease, outcome } }: Waiting): boolean {
  return outcome.kind === "done" && lease.document.key === undefined;
}

/** Returns what to call after the commit. This job's failure does not undo others. */
async function settleOne(
  tables: JobTables,
  { ended, options, resolve, reject }: Waiting,
): Promise<() => void> {
  try {
    await settle(tables, ended, options);
    return () => resolve("written");
  } catch (error) {
    if (error instanceof InputError) return () => reject(error);
    if (!hasCode(error, "ERR_DOCUMENTS_LEASE")) throw error;
    return () => resolve("lost");
  }
}
