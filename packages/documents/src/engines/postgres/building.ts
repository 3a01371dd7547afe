import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { PoolClient } from "pg";
import { holdLock } from "../../leases/hold-lock.ts";
import type { Layout } from "../layout.ts";
import { postgresLayout } from "./access-through.ts";
import { type Connections, run } from "./connections/connections.ts";
import { runOperation } from "./connections/run-operation.ts";
import { FreeSession } from "./connections/session.ts";
import { lockTable } from "./lock-table.ts";
import { dropUnused } from "./schema/drop-unused.ts";
import { buildLeft, withPatientClient } from "./schema/schema.ts";
import type { PostgresLayout } from "./statements/layout.ts";

/** A build takes as long as it takes; another process waits for it and finds it done. */
const lockWait = 0x7fff_ffff;
/** Time after which another process goes on where one ended without a word, in milliseconds. */
const lockExpiry = 10_000;
/** How often it is looked for search texts that other programs registered, in milliseconds. */
const refreshInterval = 60_000;
const firstRetryDelay = 1000;
const lastRetryDelay = 60_000;

/** Builds indexes and search texts of large tables in use: one at a time, one process. */
export class Building {
  readonly #connections: Connections;
  readonly #session: FreeSession;
  readonly #ready: Map<Layout, unknown>;
  readonly #ended = new AbortController();
  #last: Promise<void> = Promise.resolve();
  #refreshing: Promise<void> = Promise.resolve();
  #refresher: NodeJS.Timeout | undefined;

  /** `ready` has the collections in use; one whose search texts were dropped is taken out of it. */
  constructor(connections: Connections, ready: Map<Layout, unknown>) {
    this.#connections = connections;
    this.#session = new FreeSession(connections);
    this.#ready = ready;
  }

  /** Builds what is left of a table, until it is done or the store is closed. */
  start(layout: PostgresLayout): void {
    this.#last = this.#last.then(() => this.#buildUntilDone(layout));
  }

  /** Waits until everything that was started is done. */
  idle(): Promise<void> {
    return this.#last;
  }

  /** Drops indexes and search texts that the definitions of collections do not ask for. */
  async dropUnused(layouts: readonly PostgresLayout[]): Promise<void> {
    await withPatientClient(this.#connections, async (client) => {
      for (const layout of layouts) await dropUnused(client, layout);
    });
    await this.#refresh();
  }

  /** Notes search texts of other programs, and derives those that they did not know. */
  keepFresh(): void {
    this.#refresher ??= setInterval(() => {
      this.#refreshing = this.#refreshing.then(async () => {
        // A failure is met again after the next interval; until then searches read what is not
        // derived.
        await this.#refresh().catch(() => undefined);
      });
    }, refreshInterval).unref();
  }

  /** Ends what is being built; the next process goes on. */
  async close(): Promise<void> {
    this.#ended.abort();
    clearInterval(this.#refresher);
    await Promise.all([this.#last, this.#refreshing]);
  }

  async #refresh(): Promise<void> {
    for (const [layout, state] of this.#ready) {
      if (state !== "ready" || this.#ended.signal.aborted) continue;
      const isRegistered = await runOperation(
        this.#session,
        postgresLayout(layout).search.refresh(),
      );
      if (!isRegistered) this.#ready.delete(layout);
    }
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
    const hash = createHash("sha256").update(layout.definition.name).digest("hex").slice(0, 16);
    return holdLock(
      lockTable(this.#session),
      `fetchwork:build:${hash}`,
      () =>
        withPatientClient(this.#connections, async (client) => {
          const stopListening = await this.#cancelOnEnd(client);
          try {
            await buildLeft(client, layout, signal);
          } finally {
            stopListening();
          }
        }),
      { wait: lockWait, expiry: lockExpiry, signal },
    );
  }

  /** Has the server end the statement of a connection when the store is closed. */
  async #cancelOnEnd(client: PoolClient): Promise<() => void> {
    // Behind a pooler the process may work for somebody else at that time.
    if (this.#connections.isPooled) return () => undefined;
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
