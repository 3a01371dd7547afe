import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { PoolClient } from "pg";
import { holdLock, type LockTable } from "../../leases/hold-lock.ts";
import { type Connections, run } from "./connections/connections.ts";
import { buildLeft, withClient, withoutTimeout } from "./schema/schema.ts";
import type { PostgresLayout } from "./statements/layout.ts";

/** A build takes as long as it takes; another process waits for it and finds it done. */
const lockWait = 0x7fff_ffff;
/** Time after which another process goes on where one ended without a word, in milliseconds. */
const lockExpiry = 10_000;
const firstRetryDelay = 1000;
const lastRetryDelay = 60_000;

/** Builds indexes and search texts of large tables while they are in use, one table at a time and in one process only. */
export class Building {
  readonly #connections: Connections;
  readonly #locks: LockTable;
  readonly #ended = new AbortController();
  #last: Promise<void> = Promise.resolve();

  constructor(connections: Connections, locks: LockTable) {
    this.#connections = connections;
    this.#locks = locks;
  }

  /** Builds what is left of a table, until it is done or the store is closed. */
  start(layout: PostgresLayout): void {
    this.#last = this.#last.then(() => this.#buildUntilDone(layout));
  }

  /** Waits until everything that was started is done. */
  idle(): Promise<void> {
    return this.#last;
  }

  /** Ends what is being built; the next process goes on. */
  async close(): Promise<void> {
    this.#ended.abort();
    await this.#last;
  }

  async #buildUntilDone(layout: PostgresLayout): Promise<void> {
    const { signal } = this.#ended;
    for (
      let delay = firstRetryDelay;
      !signal.aborted;
      delay = Math.min(delay * 2, lastRetryDelay)
    ) {
      try {
        await this.#build(layout);
        return;
      } catch {
        // Until it succeeds, each search reads what is missing.
        await wait(delay, undefined, { ref: false, signal }).catch(() => undefined);
      }
    }
  }

  #build(layout: PostgresLayout): Promise<void> {
    const { signal } = this.#ended;
    const { statementTimeout } = this.#connections;
    const hash = createHash("sha256").update(layout.definition.name).digest("hex").slice(0, 16);
    return holdLock(
      this.#locks,
      `fetchwork:build:${hash}`,
      () =>
        withClient(this.#connections, async (client) => {
          const stopListening = await this.#cancelOnEnd(client);
          try {
            await withoutTimeout(client, statementTimeout, () => buildLeft(client, layout, signal));
          } finally {
            stopListening();
          }
        }),
      { wait: lockWait, expiry: lockExpiry, signal },
    );
  }

  /** Has the server end the statement of a connection when the store is closed. */
  async #cancelOnEnd(client: PoolClient): Promise<() => void> {
    const { signal } = this.#ended;
    const { rows } = await run(client, { text: "SELECT pg_backend_pid()", values: [] });
    const pid = rows[0]?.[0] ?? null;
    const cancel = (): void => {
      const statement = { text: "SELECT pg_cancel_backend($1)", values: [pid] };
      this.#connections.readOnce(statement).catch(() => undefined);
    };
    signal.addEventListener("abort", cancel);
    return () => {
      signal.removeEventListener("abort", cancel);
    };
  }
}
