import type { PoolClient } from "pg";
import type { BoundText, Result } from "../../operation.ts";
import { overError } from "../../transaction-errors.ts";
import { type Connections, execute, run } from "./connections.ts";
import { isConflict, isConnectionLoss } from "./postgres-error.ts";

/** Where statements run: each on its own, or all in one transaction. */
export interface Session {
  /** Runs a statement that changes nothing. */
  read(statement: BoundText): Promise<Result>;
  /** Runs a statement that happens as a whole or not at all. */
  write(statement: BoundText): Promise<Result>;
  /** Runs statements that happen together or not at all. */
  together<R>(work: (session: Session) => Promise<R>): Promise<R>;
  /**
   * Runs work just before the commit, unless what asked for it is undone: for locks that others
   * wait for and that are therefore held for the shortest time. Set in a transaction only.
   */
  beforeCommit?(work: (session: Session) => Promise<void>): void;
}

/** Runs statements on a connection whose transaction somebody else ends. */
export function sessionOn(client: PoolClient): Session {
  const session: Session = {
    read: (statement) => run(client, statement),
    write: (statement) => run(client, statement),
    together: (work) => work(session),
  };
  return session;
}

/** Runs each statement on its own. */
export class FreeSession implements Session {
  readonly #connections: Connections;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  read(statement: BoundText): Promise<Result> {
    return this.#connections.read(statement);
  }

  write(statement: BoundText): Promise<Result> {
    return this.#connections.write(statement);
  }

  /** Starts again when the server is a standby, or after a conflict with other changes. */
  together<R>(work: (session: Session) => Promise<R>): Promise<R> {
    return this.#connections.retryOnFailover(() => this.#attempt(work));
  }

  async #attempt<R>(work: (session: Session) => Promise<R>): Promise<R> {
    const client = await this.#connections.acquire();
    const limit = this.#connections.responseTimeout;
    const session = new BoundSession(client, limit);
    try {
      void client.query(this.#connections.begin).catch(() => undefined);
      const result = await work(session);
      await session.finish();
      // The server would take the COMMIT of a transaction that failed for a ROLLBACK.
      if (session.failure !== undefined) throw session.failure;
      session.end();
      await execute(client, "COMMIT", limit);
      this.#connections.release(client);
      return result;
    } catch (error) {
      session.end();
      this.#connections.release(client, await this.#connections.rollback(client, error));
      throw error;
    }
  }
}

/** Runs statements in the open transaction of one connection. */
export class BoundSession implements Session {
  readonly #client: PoolClient;
  readonly #limit: number;
  #failure: Error | undefined;
  #state: "finishing" | "open" | "over" = "open";
  #turn: Promise<unknown> = Promise.resolve();
  readonly #last: ((session: Session) => Promise<void>)[] = [];
  #hasPreCommitWork = false;

  /** The connection is lost when no response to a statement comes within the limit. */
  constructor(client: PoolClient, limit: number) {
    this.#client = client;
    this.#limit = limit;
  }

  /** Whether the transaction still accepts work. */
  get open(): boolean {
    return this.#state === "open";
  }

  /** Error that makes a commit impossible. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Whether something was to be done before the commit, also if it is undone by now. */
  get hasPreCommitWork(): boolean {
    return this.#hasPreCommitWork;
  }

  /** Accepts no more work. */
  end(): void {
    this.#state = "over";
  }

  /** A failed reading ends the transaction: it has no savepoint, because it is not expected. */
  read(statement: BoundText): Promise<Result> {
    return this.#inTurn(async () => {
      try {
        return await this.#run(statement);
      } catch (error) {
        this.#failure ??= asError(error);
        throw error;
      }
    });
  }

  /** A statement that fails would end the transaction, so it gets a savepoint to go back to. */
  async write(statement: BoundText): Promise<Result> {
    return this.together((session) => session.read(statement));
  }

  beforeCommit(work: (session: Session) => Promise<void>): void {
    this.#hasPreCommitWork = true;
    this.#last.push(work);
  }

  /** Waits for work that nobody awaited, accepts no more, and does what comes before the commit. */
  async finish(): Promise<void> {
    for (let last: unknown; last !== this.#turn;) {
      last = this.#turn;
      await last;
    }
    if (this.#state === "open") this.#state = "finishing";
    for (const work of this.#last.splice(0)) await work(this.#inner());
  }

  together<R>(work: (session: Session) => Promise<R>): Promise<R> {
    return this.#inTurn(() => this.#saved(work));
  }

  /** The session as work sees it that has a savepoint, or needs none. */
  #inner(): Session {
    const inner: Session = {
      read: (statement) => this.#run(statement),
      write: (statement) => this.#run(statement),
      together: (nested) => nested(inner),
      beforeCommit: (work) => {
        this.beforeCommit(work);
      },
    };
    return inner;
  }

  async #saved<R>(work: (session: Session) => Promise<R>): Promise<R> {
    const kept = this.#last.length;
    // The server responds in order, so the response to the first statement is awaited for both.
    void this.#client.query("SAVEPOINT work").catch(() => undefined);
    try {
      const result = await work(this.#inner());
      void this.#client.query("RELEASE work").catch(() => undefined);
      return result;
    } catch (error) {
      this.#last.length = kept;
      void this.#client.query("ROLLBACK TO work").catch(() => undefined);
      void this.#client.query("RELEASE work").catch(() => undefined);
      throw error;
    }
  }

  /** Savepoints are a stack, so changes that were asked for at once go one after the other. */
  #inTurn<R>(work: () => Promise<R>): Promise<R> {
    if (!this.open) return Promise.reject(overError());
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  async #run(statement: BoundText): Promise<Result> {
    if (this.#state === "over") throw overError();
    if (this.#failure !== undefined) throw this.#failure;
    try {
      return await run(this.#client, statement, this.#limit);
    } catch (error) {
      // Nothing that follows can bring the transaction to a good end.
      if (isConflict(error) || isConnectionLoss(error)) this.#failure = asError(error);
      throw error;
    }
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error("unexpected non-Error");
}
