import { once } from "node:events";
import { statSync } from "node:fs";
import type { Worker } from "node:worker_threads";
import { isObject } from "@fetchwork/kit";
import type { CollectionDefinition } from "../../../api/definition.ts";
import { DocumentsError } from "../../../api/errors.ts";
import type { Found } from "../../engine.ts";
import type { Row } from "../../operation.ts";
import type { Extent } from "../../operations/extent.ts";
import type { ReadPlan } from "../../operations/find.ts";
import { toDocumentsError } from "../connection/sqlite-error.ts";
import { startThread } from "./start-thread.ts";

/** Work for a thread. */
export interface Job {
  readonly definition: CollectionDefinition<unknown>;
  readonly plan: ReadPlan;
}

/** A part of a result; the thread waits for "next" between two, so that no turn takes long. */
export interface Part extends Extent {
  readonly rows: readonly Row[];
  /** Set with the last part. */
  readonly count?: number | undefined;
}

/** Error of SQLite for a query, as it goes from thread to thread. */
export interface Failure {
  readonly message: string;
  readonly errcode: number | undefined;
}

interface Waiting extends Job {
  readonly since: number;
  readonly take: (part: Part) => void;
  readonly end: (error: unknown) => void;
}

const maxThreads = 2;
const maxWaiting = 256;
/** Maximum wait for a read; reads whose clients have left must not delay those of others. */
const maxWait = 30_000;
/** How much longer the write-ahead log may become before reads make room for a checkpoint. */
const maxLogGrowth = 64 * 1024 * 1024;
/** Maximum time that reads wait for a checkpoint, which a transaction may delay. */
const maxPause = 1000;

/**
 * Reads in other threads what would take too long in this one, each on a separate connection.
 *
 * The log can only start again at a moment when nobody reads what is behind its last checkpoint.
 * Reads that overlap all the time leave no such moment, so when the log is long they make one.
 */
export class SlowReads {
  readonly #path: string;
  #checkpoint: (() => Promise<void>) | undefined;
  #shortestLog = 0;
  #isMakingRoom = false;
  readonly #waiting: Waiting[] = [];
  readonly #idle: Worker[] = [];
  readonly #busy = new Map<Worker, Waiting>();
  #whenIdle: (() => void) | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Sets what brings the log into the file, which is done while nobody reads here. */
  makeRoomWith(checkpoint: () => Promise<void>): void {
    this.#checkpoint = checkpoint;
  }

  /** Responds to a query; each row of the result is what `map` makes of it. */
  run<R>(job: Job, map: (row: Row) => R): Promise<Found<R>> {
    if (this.#waiting.length >= maxWaiting) {
      return Promise.reject(busy(`more than ${maxWaiting} slow reads wait for their turn`));
    }
    return new Promise((resolve, reject) => {
      const items: R[] = [];
      const take = ({ rows, count, ...extent }: Part): void => {
        for (const row of rows) items.push(map(row));
        if (count !== undefined) resolve({ items, count, ...extent });
      };
      this.#waiting.push({ ...job, since: performance.now(), take, end: reject });
      this.#next();
    });
  }

  /** Waits for the reads that were begun, and ends the threads. */
  async close(): Promise<void> {
    if (this.#busy.size + this.#waiting.length > 0) {
      await new Promise<void>((resolve) => {
        this.#whenIdle = resolve;
      });
    }
    await Promise.all(
      this.#idle.splice(0).map(async (worker) => {
        worker.ref();
        worker.postMessage("end");
        await once(worker, "exit");
      }),
    );
  }

  #next(): void {
    if (this.#waiting.length === 0) {
      if (this.#busy.size === 0) this.#whenIdle?.();
      return;
    }
    const isFull = this.#idle.length === 0 && this.#busy.size >= maxThreads;
    if (isFull || this.#isMakingRoom || this.#makesRoom()) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    if (performance.now() - next.since > maxWait) {
      next.end(busy(`a slow read waited for its turn for more than ${maxWait / 1000} s`));
      this.#next();
      return;
    }
    const worker = this.#idle.pop() ?? this.#start();
    this.#busy.set(worker, next);
    // A thread without work does not keep the process from ending.
    worker.ref();
    const { definition, plan } = next;
    worker.postMessage({ definition, plan });
  }

  /** Waits until nobody reads here when the log is long, and has it brought into the file. */
  #makesRoom(): boolean {
    const length = this.#logLength();
    this.#shortestLog = Math.min(this.#shortestLog, length);
    const checkpoint = this.#checkpoint;
    if (checkpoint === undefined || length - this.#shortestLog <= maxLogGrowth) return false;
    if (this.#busy.size > 0) return true;
    this.#isMakingRoom = true;
    let isOver = false;
    const goOn = (): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      this.#isMakingRoom = false;
      // Another reader keeps the log long, and is not waited for each time.
      this.#shortestLog = this.#logLength();
      for (let free = maxThreads; free > 0; free -= 1) this.#next();
    };
    const timer = setTimeout(goOn, maxPause);
    void checkpoint().finally(goOn);
    return true;
  }

  #logLength(): number {
    return statSync(`${this.#path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  }

  #start(): Worker {
    const worker = startThread({ kind: "read", path: this.#path });
    worker.on("message", (message: unknown) => {
      this.#receive(worker, message);
    });
    worker.on("error", (error) => {
      this.#settle(worker, error);
      this.#drop(worker);
    });
    void once(worker, "exit").then(
      () => {
        this.#settle(worker, new Error("the thread of a slow read ended before it was done"));
        this.#drop(worker);
      },
      () => undefined,
    );
    return worker;
  }

  #receive(worker: Worker, message: unknown): void {
    const job = this.#busy.get(worker);
    if (job === undefined) return;
    if (!isPart(message)) {
      this.#settle(worker, toError(message));
      this.#release(worker);
      return;
    }
    try {
      job.take(message);
    } catch (error) {
      // A damaged document: the rest is not wanted any more, and the thread forgets it.
      this.#settle(worker, error);
      this.#release(worker);
      return;
    }
    if (message.count === undefined) {
      worker.postMessage("next");
      return;
    }
    this.#release(worker);
  }

  #settle(worker: Worker, error: unknown): void {
    this.#busy.get(worker)?.end(asDocumentsError(error));
  }

  #release(worker: Worker): void {
    if (!this.#busy.delete(worker)) return;
    worker.unref();
    this.#idle.push(worker);
    this.#next();
  }

  #drop(worker: Worker): void {
    const place = this.#idle.indexOf(worker);
    if (place !== -1) this.#idle.splice(place, 1);
    if (this.#busy.delete(worker)) this.#next();
  }
}

function busy(message: string): DocumentsError {
  return new DocumentsError("ERR_DOCUMENTS_BUSY", message);
}

function isPart(message: unknown): message is Part {
  return isObject(message) && Array.isArray(message["rows"]);
}

function toError(message: unknown): Error {
  const { message: text, errcode } = isObject(message) ? message : {};
  return Object.assign(new Error(String(text)), typeof errcode === "number" ? { errcode } : {});
}

function asDocumentsError(error: unknown): unknown {
  const known = toDocumentsError(error);
  if (known instanceof DocumentsError) return known;
  return new DocumentsError("ERR_DOCUMENTS_ENGINE", "the thread of a slow read failed", {
    cause: error,
  });
}
