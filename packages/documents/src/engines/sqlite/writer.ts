import { AsyncLocalStorage } from "node:async_hooks";
import { hasCode } from "../../api/errors.ts";
import { changeInsideError, nestedError, withinTime } from "../transaction-errors.ts";
import type { Connection } from "./connection/connection.ts";
import { isEngineFailure } from "./connection/sqlite-error.ts";
import { Session, type SessionContext } from "./session.ts";

/** A change that waits for its turn. */
interface WriteJob {
  readonly kind: "write";
  /** Does the work; what it returns is called after the commit. */
  readonly run: (session: Session) => () => void;
  readonly reject: (reason: unknown) => void;
}

/** A transaction that waits for its turn. */
interface TransactionJob {
  readonly kind: "transaction";
  /** Does the work; what it resolves to is called after the commit. */
  readonly run: (session: Session) => Promise<() => void>;
  readonly timeout: number;
  readonly reject: (reason: unknown) => void;
}

/** Work during which nothing is changed, and that needs no transaction of this connection. */
interface PauseJob {
  readonly kind: "pause";
  readonly run: () => Promise<void>;
  readonly reject: (reason: unknown) => void;
}

type Job = PauseJob | TransactionJob | WriteJob;

/** State that a writer shares with the rest of its store. */
export interface WriterContext extends SessionContext {
  /** The time to wait for another process, in milliseconds. */
  readonly busyTimeout: number;
}

/** Bounds the time that the event loop is blocked. */
const maxBatch = 512;
const busyRetryDelay = 5;

/**
 * Lets every change have its turn on the one connection that writes.
 *
 * Changes of one turn of the event loop share one transaction, and so one wait for the disk. Each
 * succeeds or fails alone. A transaction has the connection to itself until it ends. Turns are in
 * the order of asking.
 */
export class Writer {
  readonly #connection: Connection;
  readonly #context: WriterContext;
  readonly #queue: Job[] = [];
  #scope: AsyncLocalStorage<Session> | undefined;
  #active = false;
  #scheduled = false;
  #busySince: number | undefined;
  #whenIdle: (() => void) | undefined;
  /** Work to do before the next change begins. */
  readonly #between: (() => void)[] = [];

  constructor(connection: Connection, context: WriterContext) {
    this.#connection = connection;
    this.#context = context;
  }

  /** Whether uncommitted changes are visible on the connection. */
  get isActive(): boolean {
    return this.#active;
  }

  /** Runs a change when its turn comes; resolves after the commit. */
  write<R>(work: (session: Session) => R): Promise<R> {
    if (this.#insideTransaction()) return Promise.reject(changeInsideError());
    return new Promise((resolve, reject) => {
      const run = (session: Session) => {
        const value = work(session);
        return () => {
          resolve(value);
        };
      };
      this.#push({ kind: "write", run, reject });
    });
  }

  /** Runs a transaction when its turn comes; resolves after the commit. */
  transaction<R>(work: (session: Session) => Promise<R> | R, timeout: number): Promise<R> {
    if (this.#insideTransaction()) return Promise.reject(nestedError());
    return new Promise((resolve, reject) => {
      const run = async (session: Session) => {
        const value = await work(session);
        return () => {
          resolve(value);
        };
      };
      this.#push({ kind: "transaction", run, timeout, reject });
    });
  }

  /** Runs work in turn, without changing anything before: other connections may. */
  withoutChanges(work: () => Promise<void>): Promise<void> {
    if (this.#insideTransaction()) return Promise.reject(changeInsideError());
    return new Promise((resolve, reject) => {
      const run = (): Promise<void> => work().then(resolve, reject);
      this.#push({ kind: "pause", run, reject });
    });
  }

  /**
   * Brings all of the write-ahead log into the file and empties it, between two changes; as far as
   * others that read let it.
   */
  checkpoint(): Promise<void> {
    return new Promise((resolve) => {
      this.#between.push(() => {
        try {
          this.#connection.exec("PRAGMA wal_checkpoint(TRUNCATE)");
        } catch {
          // A commit does the same, and says what is wrong to whom it concerns.
        }
        resolve();
      });
      this.#schedule();
    });
  }

  /** Resolves when nothing is under way or waiting. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenIdle = resolve;
      this.#schedule();
    });
  }

  #insideTransaction(): boolean {
    return this.#scope?.getStore()?.isOpen === true;
  }

  #push(job: Job): void {
    this.#queue.push(job);
    this.#schedule();
  }

  /** Waits for the end of this turn of the event loop, so that its changes come together. */
  #schedule(): void {
    if (this.#scheduled || this.#active) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#next();
    });
  }

  #next(): void {
    this.#scheduled = false;
    for (const work of this.#between.splice(0)) work();
    const [head] = this.#queue;
    if (head === undefined) {
      this.#whenIdle?.();
      return;
    }
    if (head.kind === "pause") {
      this.#queue.shift();
      this.#active = true;
      void head.run().finally(() => {
        this.#end();
      });
      return;
    }
    const session = this.#begin();
    if (session === undefined) return;
    this.#active = true;
    if (head.kind === "write") {
      this.#runBatch(session);
      this.#end();
    } else {
      this.#queue.shift();
      void this.#runTransaction(session, head).finally(() => {
        this.#end();
      });
    }
  }

  #end(): void {
    this.#active = false;
    this.#schedule();
  }

  /**
   * Takes the lock. While another process has it, the attempt is repeated by a timer: waiting
   * inside SQLite would stop the event loop.
   */
  #begin(): Session | undefined {
    try {
      this.#connection.exec("BEGIN IMMEDIATE");
    } catch (error) {
      this.#busySince ??= performance.now();
      const isBusy = hasCode(error, "ERR_DOCUMENTS_BUSY");
      if (isBusy && performance.now() - this.#busySince < this.#context.busyTimeout) {
        this.#scheduled = true;
        setTimeout(() => {
          this.#next();
        }, busyRetryDelay);
        return undefined;
      }
      this.#busySince = undefined;
      for (const job of this.#takeTurn()) job.reject(error);
      this.#schedule();
      return undefined;
    }
    this.#busySince = undefined;
    return new Session(this.#connection, this.#context);
  }

  #takeTurn(): readonly Job[] {
    return this.#queue[0]?.kind === "transaction" ? this.#queue.splice(0, 1) : this.#takeBatch();
  }

  #takeBatch(): readonly WriteJob[] {
    const batch: WriteJob[] = [];
    for (const job of this.#queue) {
      if (job.kind !== "write" || batch.length === maxBatch) break;
      batch.push(job);
    }
    this.#queue.splice(0, batch.length);
    return batch;
  }

  #runBatch(session: Session): void {
    const batch = this.#takeBatch();
    const outcomes: (() => void)[] = [];
    try {
      for (const job of batch) outcomes.push(runAlone(session, job));
      session.commit();
    } catch (error) {
      const reason = session.rollback(error);
      for (const job of batch) job.reject(reason);
      return;
    }
    for (const settle of outcomes) settle();
  }

  async #runTransaction(session: Session, job: TransactionJob): Promise<void> {
    const scope = (this.#scope ??= new AsyncLocalStorage());
    try {
      const settle = await withinTime(job, () => scope.run(session, () => job.run(session)));
      session.commit();
      settle();
    } catch (error) {
      job.reject(session.rollback(error));
    }
  }
}

/** Runs one change of a batch: its own failure is its own, one of the engine is everybody's. */
function runAlone(session: Session, job: WriteJob): () => void {
  try {
    return job.run(session);
  } catch (error) {
    if (isEngineFailure(error)) throw error;
    return () => {
      job.reject(error);
    };
  }
}
