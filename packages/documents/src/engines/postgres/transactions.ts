import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { PoolClient } from "pg";
import { UniqueError } from "../../api/errors.ts";
import type { LockTable } from "../../leases/hold-lock.ts";
import { pauseAfter } from "../../query/transaction-options.ts";
import { changeInsideError, withinTime } from "../transaction-errors.ts";
import { commit } from "./connections/commit.ts";
import { type Connections, execute } from "./connections/connections.ts";
import {
  isConflict,
  isConnectionLoss,
  isReadOnly,
  sqlState,
  toDocumentsError,
} from "./connections/postgres-error.ts";
import { BoundSession } from "./connections/session.ts";
import { feedEndTable } from "./statements/own-tables.ts";

/** After these many conflicts a transaction queues behind others that conflicted as often. */
const freeAttempts = 2;
/** After these many, others of this process wait for it, which may have aborted it until then. */
const queuedAttempts = 4;
/** How long these wait for another one, in milliseconds: it may wait for them in a deadlock. */
const maxWait = 150;
/** The advisory lock of transactions that conflicted: "FWTX". */
const queueLock = 0x46575458;
/** The same as a row. */
const queueLease = "fetchwork:queue";
const queuePoll = 20;
const queueMargin = 1000;
/** Syntax error, feature not supported, undefined object. */
const lockUnknown: ReadonlySet<string | undefined> = new Set(["42601", "0A000", "42704"]);

/** Limits of a transaction, in milliseconds and in attempts. */
interface Limits {
  readonly timeout: number;
  readonly retries?: number | undefined;
}

/** Runs transactions as if each were alone, again where two of them met. */
export class Transactions {
  readonly #connections: Connections;
  readonly #locks: LockTable | undefined;
  /** Systems that are not PostgreSQL may have no such lock, and no need of it. */
  #cannotLock = false;
  #queued: Promise<undefined> = Promise.resolve(undefined);
  /** The end of the last one that others wait for. */
  #alone: Promise<undefined> | undefined;
  readonly #scope = new AsyncLocalStorage<BoundSession>();

  /** A distributed store has no advisory locks; its transactions queue by a row of its locks. */
  constructor(connections: Connections, { locks }: { readonly locks: LockTable | undefined }) {
    this.#connections = connections;
    this.#locks = locks;
  }

  /** Whether the code that asks runs inside of a transaction. */
  get inside(): boolean {
    return this.#scope.getStore()?.open === true;
  }

  /** Refuses a change through the store itself by code that runs inside of a transaction. */
  refuseInside(): void {
    if (this.inside) throw changeInsideError();
  }

  /**
   * Runs a transaction until it is committed, `timeout` is over, or it fails by itself. After
   * conflicts it keeps a place in the queue of this process, and in the end others wait for it.
   */
  async run<R>(
    work: (session: BoundSession) => Promise<R> | R,
    { timeout, retries = Infinity }: Limits,
  ): Promise<R> {
    const limits = { timeout, retries, deadline: performance.now() + timeout };
    const asked: Asked<R> = { work, ...limits, hasPreCommitWork: false, isTaken: false };
    // A courtesy and not a lock: the one that runs alone may wait for this one.
    if (this.#alone) await Promise.race([this.#alone, wait(Math.min(maxWait, timeout))]);
    for (let attempt = 0; attempt < freeAttempts; attempt += 1) {
      const done = await this.#try(asked, attempt);
      if (done) return done.value;
    }
    return this.#queue(asked, async () => {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      try {
        for (let attempt = freeAttempts; ; attempt += 1) {
          if (attempt === queuedAttempts) this.#alone = promise;
          const done = await this.#try(asked, attempt);
          if (done) return done.value;
        }
      } finally {
        if (this.#alone === promise) this.#alone = undefined;
        resolve(undefined);
      }
    });
  }

  /** Attempts it once; returns nothing after a conflict and a pause of a few milliseconds. */
  async #try<R>(asked: Asked<R>, attempt: number): Promise<{ readonly value: R } | undefined> {
    try {
      return { value: await this.#attempt(asked, attempt) };
    } catch (error) {
      if (!(error instanceof Again)) throw error;
      const isOver = attempt >= asked.retries || performance.now() >= asked.deadline;
      if (isOver) throw toDocumentsError(error.cause);
      await wait(pauseAfter(isConflict(error.cause) ? attempt % freeAttempts : attempt));
      return undefined;
    }
  }

  /**
   * Runs work when the conflicting transactions of this process before it have ended. They wait
   * without a connection, so that others have one.
   */
  async #queue<R>({ deadline, timeout }: Asked<R>, work: () => Promise<R>): Promise<R> {
    const before = this.#queued;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#queued = before.then(() => promise);
    try {
      await withinTime({ timeout, left: deadline - performance.now() }, () => before);
      return await this.#withLock(deadline, work);
    } finally {
      resolve(undefined);
    }
  }

  /** Runs work while no other process runs a conflicting transaction, or at the end of the time. */
  async #withLock<R>(deadline: number, work: () => Promise<R>): Promise<R> {
    const locks = this.#locks;
    if (locks === undefined) return work();
    const lock = { name: queueLease, token: randomUUID() };
    try {
      while (performance.now() < deadline) {
        // It is free by itself when everything that it was taken for is over.
        const expiry = Math.ceil(deadline - performance.now()) + queueMargin;
        if (await locks.takeLock({ ...lock, expiry })) break;
        await wait(Math.random() * queuePoll);
      }
      return await work();
    } finally {
      // Where this fails the lock expires; the outcome of the work is what the caller must know.
      await locks.releaseLock(lock).catch(() => undefined);
    }
  }

  async #attempt<R>(asked: Asked<R>, attempt: number): Promise<R> {
    const { work, deadline, timeout, retries } = asked;
    const isFree = attempt < Math.min(freeAttempts, retries);
    const client = await this.#connections.acquire();
    const isQueued = this.#locks === undefined && attempt >= freeAttempts;
    const left = Math.max(1, Math.ceil(deadline - performance.now()));
    const limit = left + this.#connections.responseTimeout;
    const session = new BoundSession(client, limit);
    let failure: unknown;
    let isCommitting = false;
    try {
      // The lock comes before the snapshot, or it would be of the time before the others ended.
      if (isQueued) {
        await execute(
          client,
          `SET statement_timeout = ${left}; SELECT pg_advisory_lock(${queueLock})`,
          limit,
        );
      }
      const waiting = isFree ? `; SET LOCAL lock_timeout = ${maxWait}` : "";
      void client
        .query(`${beginSerializable}; SET LOCAL statement_timeout = ${left}${waiting}`)
        .catch(() => undefined);
      if (asked.hasPreCommitWork && attempt >= freeAttempts) await this.#lockFeed(client, limit);
      const value = await withinTime({ timeout, left: deadline - performance.now() }, () =>
        this.#scope.run(session, async () => work(session)),
      );
      await session.finish();
      session.end();
      if (session.failure !== undefined) throw session.failure;
      isCommitting = true;
      await commit(client, limit);
      return value;
    } catch (error) {
      const cause = session.failure ?? error;
      asked.hasPreCommitWork ||= session.hasPreCommitWork;
      session.end();
      failure = await this.#connections.rollback(client, cause);
      const isSafe = isConflict(cause) || isReadOnly(cause) || !isCommitting;
      // The document with the value may be of a transaction that this one could not see: then a
      // new one sees it before it writes.
      const isUnseen = cause instanceof UniqueError && !asked.isTaken;
      asked.isTaken ||= isUnseen;
      const mayWork = isConflict(cause) || isReadOnly(cause) || isConnectionLoss(cause) || isUnseen;
      throw isSafe && mayWork ? new Again("Again", { cause }) : toDocumentsError(error);
    } finally {
      if (isQueued) {
        await execute(
          client,
          `SET statement_timeout = ${this.#connections.statementTimeout}; ` +
            `SELECT pg_advisory_unlock(${queueLock})`,
          this.#connections.responseTimeout,
        ).catch(() => undefined);
      }
      this.#connections.release(client, failure);
    }
  }

  /**
   * Keeps changes of others out of the feed of a distributed store until the end. They all move its
   * end. A transaction cannot do that after one of them, so many small ones would never let it
   * through. Comes before the snapshot.
   */
  async #lockFeed(client: PoolClient, limit: number): Promise<void> {
    if (this.#cannotLock) return;
    try {
      await execute(client, `LOCK TABLE ${feedEndTable} IN SHARE ROW EXCLUSIVE MODE`, limit);
    } catch (error) {
      if (!lockUnknown.has(sqlState(error))) throw error;
      this.#cannotLock = true;
      throw new Again("Again", { cause: error });
    }
  }
}

/** A transaction that is asked for, and facts from its attempts. */
interface Asked<R> extends Limits {
  readonly retries: number;
  readonly work: (session: BoundSession) => Promise<R> | R;
  readonly deadline: number;
  /** Whether it writes to the feed of a distributed store. */
  hasPreCommitWork: boolean;
  /** Whether it ended once because a unique value was taken. */
  isTaken: boolean;
}

const beginSerializable = "BEGIN ISOLATION LEVEL SERIALIZABLE";

/** Says that the whole of a transaction is to be done again. */
class Again extends Error {}
