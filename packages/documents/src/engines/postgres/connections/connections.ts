import { isObject } from "@fetchwork/kit";
import { type ClientBase, DatabaseError, Pool, type PoolClient, type PoolConfig } from "pg";
import { setTimeout as wait } from "node:timers/promises";
import { DocumentsError } from "../../../api/errors.ts";
import { pauseAfter } from "../../../query/transaction-options.ts";
import type { BoundText, Result } from "../../operation.ts";
import type { PostgresAddress } from "./address.ts";
import { isTlsMismatch } from "./connection-reason.ts";
import {
  connectionError,
  ConnectionLostError,
  isConflict,
  isConnectionLoss,
  isReadOnly,
  isUnprepared,
  NotPrimaryError,
} from "./postgres-error.ts";
import type { PostgresSettings } from "./settings.ts";

const retryDelay = 50;
const maxTimer = 0x7fff_ffff;
const idleTimeout = 30_000;
/** How long a connection is silent before it is asked whether the other side is still there. */
const keepAliveDelay = 10_000;
const notPrimary = "the server is a standby, or its transactions are read-only";

/** Connections without prepared statements: the next transaction may change the session. */
const unnamed = new WeakSet<object>();

/** Connections to the server of a cluster that accepts changes at the moment. */
export class Connections {
  readonly #pools: readonly Pool[];
  readonly #settings: PostgresSettings;
  #current = 0;

  constructor(address: PostgresAddress, settings: PostgresSettings) {
    this.#settings = settings;
    this.#pools = address.hosts.map(({ host, port }) =>
      createPool({ ...poolConfig(address, settings), host, port }),
    );
  }

  /** Whether a pooler lends a server session per transaction, so that nothing lasts. */
  get isPooled(): boolean {
    return !this.#settings.prepare;
  }

  /** Begins a transaction, of whose statements the server limits the time. */
  get begin(): string {
    return this.isPooled
      ? `BEGIN; SET LOCAL statement_timeout = ${this.statementTimeout}`
      : "BEGIN";
  }

  /** The time after which the server ends a statement, in milliseconds. */
  get statementTimeout(): number {
    return this.#settings.statementTimeout;
  }

  /**
   * The time after which a server that was asked is taken for gone, in milliseconds: it would have
   * given the statement up before. One that vanished without a word is not heard of otherwise.
   */
  get responseTimeout(): number {
    return this.#settings.statementTimeout + this.#settings.connectTimeout;
  }

  /**
   * Returns a connection to the primary, which is looked for while a failover lasts. The pool calls
   * back, because each of its promises is two.
   *
   * @throws {DocumentsError} `ERR_DOCUMENTS_CONNECTION`, or `ERR_DOCUMENTS_BUSY` when others kept
   * all connections for too long.
   */
  acquire(): Promise<PoolClient> {
    const { promise, resolve } = Promise.withResolvers<PoolClient>();
    const deadline = performance.now() + this.#settings.failoverTimeout;
    this.#pool().connect((error, client) => {
      resolve(client ?? this.#acquireAfter(error, deadline));
    });
    return promise;
  }

  async #acquireAfter(failure: unknown, deadline: number): Promise<PoolClient> {
    for (let error = failure; ;) {
      // Waiting for others to give their connections back says nothing about the server.
      if (!isFull(error)) this.failOver();
      // Another host of the cluster may have what one lacks.
      const isFinal = this.#pools.length === 1 && isTlsMismatch(error);
      if (isFinal || !mayPass(error) || performance.now() >= deadline) {
        throw unreachable(error, this.#settings.poolSize);
      }
      await wait(retryDelay);
      try {
        return await this.#pool().connect();
      } catch (again) {
        error = again;
      }
    }
  }

  /** Reads; a connection that broke since is replaced, since reading twice does no harm. */
  async read(statement: BoundText): Promise<Result> {
    const deadline = performance.now() + this.#settings.failoverTimeout;
    for (;;) {
      try {
        return await this.readOnce(statement);
      } catch (error) {
        if (!isConnectionLoss(error) || performance.now() >= deadline) throw error;
        await wait(retryDelay);
      }
    }
  }

  /** Reads, and fails where the connection is lost. */
  async readOnce(statement: BoundText): Promise<Result> {
    const client = await this.acquire();
    try {
      const result = await run(client, statement, this.responseTimeout);
      client.release();
      return result;
    } catch (error) {
      this.release(client, error);
      throw error;
    }
  }

  /** Changes; done again only when it is known that nothing happened. */
  write(statement: BoundText): Promise<Result> {
    return this.retryOnFailover(() => this.readOnce(statement));
  }

  /**
   * Does work again of which it is known that nothing happened, as long as a failover may last:
   * because a standby refused it, or because it met other changes.
   */
  async retryOnFailover<R>(work: () => Promise<R>): Promise<R> {
    const deadline = performance.now() + this.#settings.failoverTimeout;
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        const mayPass = isReadOnly(error) || isConflict(error);
        if (!mayPass || performance.now() >= deadline) throw error;
        await wait(isConflict(error) ? pauseAfter(attempt) : retryDelay);
      }
    }
  }

  /** Releases a connection; drops one that broke, lost a statement or is a standby's. */
  release(client: PoolClient, error?: unknown): void {
    const isBroken = isReadOnly(error) || isConnectionLoss(error) || isUnprepared(error);
    client.release(isBroken);
    if (isReadOnly(error)) this.failOver();
  }

  /** Undoes an open transaction; returns what to release the connection with. */
  async rollback(client: PoolClient, reason: unknown): Promise<unknown> {
    try {
      await execute(client, "ROLLBACK", this.#settings.connectTimeout);
      return reason;
    } catch (error) {
      return isReadOnly(reason) ? reason : error;
    }
  }

  /** Tries the next host from now on. */
  failOver(): void {
    this.#current = (this.#current + 1) % this.#pools.length;
  }

  /** Closes the connections as they come back. */
  async close(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.end()));
  }

  #pool(): Pool {
    const pool = this.#pools[this.#current];
    if (pool === undefined) throw new RangeError("there is no host");
    return pool;
  }
}

/**
 * Runs a statement on a connection, which is lost when no response comes within the limit. `pg`
 * calls back, because each of its promises captures a stack.
 */
export function run(client: PoolClient, statement: BoundText, limit?: number): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  const { text, values } = statement;
  const name = unnamed.has(client) ? undefined : statement.name;
  // Always the same members: `pg` copies them one by one.
  const query = {
    text,
    name,
    values: [...values],
    rowMode: "array" as const,
    query_timeout: timeLimit(limit),
  };
  client.query<(string | null)[]>(query, (error: unknown, result) => {
    // `pg` passes null for no error.
    if (error == null) resolve({ rows: result.rows, count: result.rowCount ?? result.rows.length });
    else reject(toFailure(error));
  });
  return promise;
}

/** An error that does not come from the server comes from the socket. */
function toFailure(error: unknown): Error {
  return error instanceof DatabaseError
    ? error
    : new ConnectionLostError("the connection was lost", { cause: error });
}

/** Runs statements that take no values, within the limit if there is one. */
export async function execute(client: PoolClient, text: string, limit?: number): Promise<void> {
  try {
    const query = { text, query_timeout: timeLimit(limit) };
    await client.query(query);
  } catch (error) {
    throw toFailure(error);
  }
}

/** A longer timer would be over at once. */
function timeLimit(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : Math.min(milliseconds, maxTimer);
}

function poolConfig(address: PostgresAddress, settings: PostgresSettings): PoolConfig {
  const { user, password, database, ssl, applicationName } = address;
  return {
    user,
    // A password that is undefined would be looked for in the environment.
    password: password ?? "",
    database,
    ssl,
    application_name: applicationName,
    max: settings.poolSize,
    connectionTimeoutMillis: settings.connectTimeout,
    idleTimeoutMillis: idleTimeout,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveDelay,
    pipeline: true,
    types: { getTypeParser: () => asText },
    onConnect: (client): unknown => prepareConnection(client, settings),
  };
}

/**
 * Sets what the store relies on, whatever the defaults of the database are. The time limit of
 * statements is not among the parameters with which a connection starts, because PgBouncer refuses
 * that. Where the next transaction has another session, nothing is set, which would last in the
 * sessions of others.
 *
 * @throws {NotPrimaryError} When the server is a standby, or takes no changes.
 */
async function prepareConnection(
  client: ClientBase,
  { prepare, statementTimeout }: PostgresSettings,
): Promise<void> {
  const settings =
    "SET standard_conforming_strings = on; SET default_transaction_isolation = 'read committed'; " +
    `SET client_min_messages = warning; SET statement_timeout = ${statementTimeout}; `;
  if (!prepare) unnamed.add(client);
  const results: unknown = await client.query(
    `${prepare ? settings : ""}SHOW transaction_read_only`,
  );
  if (!isPrimary(results)) throw new NotPrimaryError(notPrimary);
}

function createPool(config: PoolConfig): Pool {
  const pool = new Pool(config);
  // An idle connection that breaks is replaced when it is needed.
  pool.on("error", () => undefined);
  // Between being taken and its first statement a connection breaks without a listener otherwise.
  pool.on("connect", (client) => client.on("error", () => undefined));
  return pool;
}

function isPrimary(results: unknown): boolean {
  const last: unknown = Array.isArray(results) ? results.at(-1) : results;
  return (
    JSON.stringify(isObject(last) ? last["rows"] : undefined) ===
    '[{"transaction_read_only":"off"}]'
  );
}

function isFull(error: unknown): boolean {
  return error instanceof Error && error.message === "timeout exceeded when trying to connect";
}

/** Tells whether another attempt to connect may succeed: not where the server refused this one. */
function mayPass(error: unknown): boolean {
  return !(error instanceof DatabaseError) || isConnectionLoss(error);
}

function unreachable(error: unknown, poolSize: number): Error {
  if (isFull(error)) {
    const message = `all ${poolSize} connections to PostgreSQL are taken`;
    return new DocumentsError("ERR_DOCUMENTS_BUSY", message);
  }
  if (!mayPass(error)) {
    return connectionError(error, "PostgreSQL refused the connection");
  }
  return connectionError(
    error,
    "PostgreSQL cannot be reached, or none of its servers accepts changes",
  );
}

/** Keeps numbers as text: which of them fit is known where they are read. */
function asText<T>(value: T): T {
  return value;
}
