import { AsyncLocalStorage } from "node:async_hooks";
import { hasCode } from "../../api/errors.ts";
import { changeInsideError, nestedError, withinTime } from "../transaction-errors.ts";
import type { Connection } from "./connection/connection.ts";
import { isEngineFailure } from "./connection/sqlite-error.ts";
import { Session, type SessionContext } from "./session.ts";

/** The promise of who asked. */
interface Settled {
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/** A change, or a transaction of several, whose promise is settled after the commit. */
interface ChangeJob extends Settled {
  readonly kind: "transaction" | "write";
  readonly work: (session: Session) => unknown;
  /** Time that a transaction may take, in milliseconds. */
  readonly timeout: number;
}

/** Work during which nothing is changed, and that needs no transaction of this connection. */
interface PauseJob extends Settled {
  readonly kind: "pause";
  readonly work: () => Promise<void> | void;
}

/** State that a writer shares with the rest of its store. */
export interface WriterContext extends SessionContext {
  /** The time to wait for another process, in milliseconds. */
  readonly busyTimeout: number;
}

/** Bounds the time that the event loop is blocked. */
const maxBatch = 512;
const busyRetryDelay = 5;
/** Up to this time further turns share a commit, in milliseconds. */
const maxShared = 10;
/** After a turn that took longer, each has a commit alone for this time, in milliseconds. */
const alone = 1000;
/** A transaction that may take longer shares no commit, in milliseconds. */
const maxSharedTimeout = 60_000;

/**
 * Lets every change have its turn on the one connection that writes.
 *
 * Changes of one turn of the event loop share one commit, and so one wait for the disk. So do
 * transactions that wait for their turn. Each succeeds or fails alone, and has the connection to
 * itself until it ends. Turns are in the order of asking.
 */
export class Writer {
  readonly #connection: Connection;
  readonly #context: WriterContext;
  readonly #queue: (ChangeJob | PauseJob)[] = [];
  #scope: AsyncLocalStorage<Session> | undefined;
  #active = false;
  #scheduled = false;
  #busySince: number | undefined;
  /** When turns may share a commit again. */
  #aloneUntil = 0;

  constructor(connection: Connection, context: WriterContext) {
    this.#connection = connection;
    this.#context = context;
  }

  /** Whether uncommitted changes are visible on the connection. */
  get isActive(): boolean {
    return this.#active;
  }

  /** Runs a change when its turn comes; resolves after the commit. */
  async write<R>(work: (session: Session) => R): Promise<R> {
    if (this.#insideTransaction()) throw changeInsideError();
    return this.#ask({ kind: "write", work, timeout: 0 });
  }

  /** Runs a transaction when its turn comes; resolves after the commit. */
  async transaction<R>(work: (session: Session) => Promise<R> | R, timeout: number): Promise<R> {
    if (this.#insideTransaction()) throw nestedError();
    const scope = (this.#scope ??= new AsyncLocalStorage());
    // The function runs in the context of who asked, and not of who asked first.
    const inContext = AsyncLocalStorage.snapshot();
    const run = (session: Session): unknown => inContext(() => scope.run(session, work, session));
    return this.#ask({ kind: "transaction", work: run, timeout });
  }

  /** Runs work in turn, without changing anything before: other connections may. */
  async withoutChanges(work: () => Promise<void>): Promise<void> {
    if (this.#insideTransaction()) throw changeInsideError();
    return this.#ask({ kind: "pause", work });
  }

  /**
   * Brings all of the write-ahead log into the file and empties it, before the next change; as far
   * as others that read let it.
   */
  checkpoint(): Promise<void> {
    const work = (): void => {
      try {
        this.#connection.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      } catch {
        // A commit does the same, and says what is wrong to whom it concerns.
      }
    };
    return this.#ask({ kind: "pause", work }, 0);
  }

  /** Resolves when everything is done that was asked for before. */
  idle(): Promise<void> {
    return this.#ask({ kind: "pause", work: () => undefined });
  }

  #insideTransaction(): boolean {
    return this.#scope?.getStore()?.isOpen === true;
  }

  #ask<R>(
    asked: Omit<ChangeJob, keyof Settled> | Omit<PauseJob, keyof Settled>,
    place: number = this.#queue.length,
  ): Promise<R> {
    return new Promise<R>((resolve, reject) => {
      const settled = { resolve: (value: unknown) => resolve(value as R), reject };
      this.#queue.splice(place, 0, { ...asked, ...settled });
      this.#schedule();
    });
  }

  /** Waits for the end of this turn of the event loop, so that its changes come together. */
  #schedule(): void {
    if (this.#scheduled || this.#active) return;
    this.#scheduled = true;
    setImmediate(() => this.#next());
  }

  #next(): void {
    this.#scheduled = false;
    const [head] = this.#queue;
    if (head === undefined) return;
    if (head.kind === "pause") {
      this.#queue.shift();
      this.#active = true;
      void Promise.resolve(head.work())
        .then(head.resolve, head.reject)
        .finally(() => this.#end());
      return;
    }
    if (!this.#begin()) return;
    this.#active = true;
    void this.#runTogether();
  }

  #end(): void {
    this.#active = false;
    this.#schedule();
  }

  /**
   * Takes the lock. While another process has it, the attempt is repeated by a timer: waiting
   * inside SQLite would stop the event loop.
   */
  #begin(): boolean {
    try {
      this.#connection.exec("BEGIN IMMEDIATE");
    } catch (error) {
      this.#busySince ??= performance.now();
      const isBusy = hasCode(error, "ERR_DOCUMENTS_BUSY");
      if (isBusy && performance.now() - this.#busySince < this.#context.busyTimeout) {
        this.#scheduled = true;
        setTimeout(() => this.#next(), busyRetryDelay);
        return false;
      }
      this.#busySince = undefined;
      for (const job of this.#takeTurn()) job.reject(error);
      this.#schedule();
      return false;
    }
    this.#busySince = undefined;
    return true;
  }

  /** Takes a transaction, or the changes up to the next one. */
  #takeTurn(): readonly ChangeJob[] {
    const turn: ChangeJob[] = [];
    for (const job of this.#queue) {
      if (job.kind === "pause" || turn.length === maxBatch) break;
      if (job.kind === "transaction" && turn.length > 0) break;
      turn.push(job);
      if (job.kind === "transaction") break;
    }
    this.#queue.splice(0, turn.length);
    return turn;
  }

  /** Runs a turn, and those that wait behind it while that is short, up to one commit for all. */
  async #runTogether(): Promise<void> {
    const startedAt = performance.now();
    const taken: ChangeJob[] = [];
    const outcomes: (() => void)[] = [];
    try {
      do {
        const turn = this.#takeTurn();
        const isFirst = taken.length === 0;
        taken.push(...turn);
        const settled = await this.#runTurn(turn, isFirst);
        if (settled === undefined) this.#queue.unshift(...taken.splice(-turn.length));
        else outcomes.push(...settled);
      } while (taken.length < maxBatch && this.#mayShare(startedAt));
      this.#connection.exec("COMMIT");
    } catch (error) {
      this.#context.seen.clear();
      try {
        this.#connection.rollback();
      } catch {
        // The next BEGIN says what is wrong.
      }
      this.#end();
      for (const job of taken) job.reject(error);
      return;
    }
    this.#end();
    for (const settle of outcomes) settle();
  }

  /**
   * Whether what waits next shares the commit. What is done waits for that commit. So nothing joins
   * it that may take long, nor for a while after something that did.
   */
  #mayShare(startedAt: number): boolean {
    const [next] = this.#queue;
    if (next === undefined || next.kind === "pause") return false;
    if (next.kind === "transaction" && next.timeout > maxSharedTimeout) return false;
    const now = performance.now();
    return now - startedAt < maxShared && now >= this.#aloneUntil;
  }

  /**
   * Runs a turn, after others in a savepoint; what it returns is called after the commit. A
   * transaction there that waits for more than the store may wait for that commit. So it is undone,
   * nothing is returned, and it runs again alone.
   */
  async #runTurn(
    turn: readonly ChangeJob[],
    isFirst: boolean,
  ): Promise<readonly (() => void)[] | undefined> {
    const startedAt = performance.now();
    const session = new Session(this.#connection, this.#context);
    const outcomes = [() => session.committed()];
    if (!isFirst) this.#connection.exec("SAVEPOINT turn");
    try {
      for (const job of turn) {
        if (job.kind === "write") outcomes.push(runAlone(session, job));
        else {
          const running = withinTime(job, () => Promise.resolve(job.work(session)));
          if (!isFirst && (await isPending(running))) {
            session.close();
            this.#connection.exec("ROLLBACK TO turn; RELEASE turn");
            this.#aloneUntil = performance.now() + alone;
            return undefined;
          }
          const value = await running;
          outcomes.push(() => job.resolve(value));
        }
      }
      session.finish();
    } catch (error) {
      session.close();
      // After some failures SQLite itself has undone everything, also what others did before.
      if (!this.#connection.inTransaction) throw session.failure ?? error;
      if (isFirst) throw error;
      this.#connection.exec("ROLLBACK TO turn");
      outcomes.splice(0, Infinity, ...turn.map((job) => () => job.reject(error)));
    } finally {
      const now = performance.now();
      if (now - startedAt > maxShared) this.#aloneUntil = now + alone;
    }
    if (!isFirst) this.#connection.exec("RELEASE turn");
    return outcomes;
  }
}

/** Whether work goes on after this turn of the event loop. */
function isPending(running: Promise<unknown>): Promise<boolean> {
  const later = new Promise<boolean>((resolve) => void setImmediate(resolve, true));
  return Promise.race([running.then(isNot, isNot), later]);
}

const isNot = (): boolean => false;

/** Runs one change of a batch: its own failure is its own, one of the engine is everybody's. */
function runAlone(session: Session, { reject, resolve, work }: ChangeJob): () => void {
  try {
    const value = work(session);
    return () => resolve(value);
  } catch (error) {
    if (isEngineFailure(error)) throw error;
    return () => reject(error);
  }
}
