import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { DatabaseError, type Notification, type PoolClient } from "pg";
import { type Connections, execute } from "./connections.ts";
import { isConnectionLoss } from "./postgres-error.ts";
import type { Session } from "./session.ts";

const channelName = "fetchwork:changes";
const retryDelay = 500;

/**
 * Tells other processes that there are changes, and is told by them. So a reader of the feed need
 * not wait until it looks again. Nothing depends on it: a message that is lost, or a server that
 * has no messages, costs a `pollInterval`.
 *
 * A message is sent by itself after the commit, at most one at a time. A `NOTIFY` inside of a
 * transaction makes all commits of a database go one after the other.
 */
export class WakeUp {
  readonly #connections: Connections | undefined;
  readonly #session: Session;
  readonly #listeners = new Set<() => void>();
  readonly #closed = new AbortController();
  /** Tells own messages from those of others. */
  readonly #sender = randomUUID();
  #stop: AbortController | undefined;
  #following: Promise<void> = Promise.resolve();
  #sending: "again" | "once" | undefined;

  /** Takes connections, of which one listens; none where the server cannot listen. */
  constructor(connections: Connections | undefined, session: Session) {
    this.#connections = connections;
    this.#session = session;
  }

  /** Calls the listener when this or another process wrote changes; returns what ends that. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    const connections = this.#connections;
    if (connections !== undefined && this.#stop === undefined && !this.#closed.signal.aborted) {
      const stop = new AbortController();
      this.#stop = stop;
      this.#following = this.#following.then(() => this.#follow(connections, stop.signal));
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#stop?.abort();
      this.#stop = undefined;
    };
  }

  /** Says that changes were written. */
  announce(): void {
    this.#ring();
    if (this.#closed.signal.aborted) return;
    if (this.#sending !== undefined) this.#sending = "again";
    else void this.#send();
  }

  async close(): Promise<void> {
    this.#closed.abort();
    this.#stop?.abort();
    await this.#following;
  }

  #ring(): void {
    for (const listener of this.#listeners) listener();
  }

  async #send(): Promise<void> {
    do {
      this.#sending = "once";
      await this.#session
        .write({
          name: "fetchwork:notify",
          text: "SELECT pg_notify($1, $2)",
          values: [channelName, this.#sender],
        })
        .catch(() => undefined);
    } while (this.#isAskedAgain());
    this.#sending = undefined;
  }

  #isAskedAgain(): boolean {
    return this.#sending === "again" && !this.#closed.signal.aborted;
  }

  /** Listens, again where the connection was lost, until nobody wants to know any more. */
  async #follow(connections: Connections, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      let client: PoolClient | undefined;
      try {
        client = await connections.acquire();
        await this.#hear(client, signal);
      } catch (error) {
        // A server that knows no LISTEN will not learn it.
        if (error instanceof DatabaseError && !isConnectionLoss(error)) return;
      } finally {
        client?.release(true);
      }
      await wait(retryDelay, undefined, { signal }).catch(() => undefined);
    }
  }

  async #hear(client: PoolClient, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const end = (): void => {
      resolve(undefined);
    };
    client.on("notification", ({ payload }: Notification) => {
      if (payload !== this.#sender) this.#ring();
    });
    client.once("end", end);
    client.once("error", end);
    signal.addEventListener("abort", end);
    try {
      await execute(client, `LISTEN "${channelName}"`);
      // Changes may have been announced while nobody listened.
      this.#ring();
      if (!signal.aborted) await promise;
    } finally {
      signal.removeEventListener("abort", end);
    }
  }
}
