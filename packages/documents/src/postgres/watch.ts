import type { PoolClient } from "pg";

const INTERVAL = 1000;

interface Watched {
  readonly client: PoolClient;
  /** When its statement should have been answered. */
  readonly deadline: number;
  readonly giveUp: () => void;
}

/**
 * Watches for statements that are never answered, with one timer for all of them: one for each,
 * which `query_timeout` of `pg` is, keeps results in memory and costs more than a statement does.
 */
export class Watch {
  readonly #watched = new Set<Watched>();
  #timer: NodeJS.Timeout | undefined;

  /**
   * Gives up a statement that is not answered within the limit, to a second, and closes its
   * connection; gives what to `delete` when it is answered.
   */
  add(client: PoolClient, limit: number, giveUp: () => void): Watched {
    const watched = { client, deadline: performance.now() + limit, giveUp };
    this.#watched.add(watched);
    this.#timer ??= setInterval(() => this.#look(), INTERVAL).unref();
    return watched;
  }

  delete(watched: Watched): void {
    this.#watched.delete(watched);
  }

  #look(): void {
    const now = performance.now();
    for (const watched of this.#watched) {
      if (watched.deadline > now) continue;
      this.#watched.delete(watched);
      // The client would wait for the answer before it closes.
      destroySocket(watched.client);
      watched.giveUp();
    }
    if (this.#watched.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

function destroySocket(client: PoolClient): void {
  const connection: unknown = Reflect.get(client, "connection");
  const stream: unknown =
    typeof connection === "object" && connection !== null
      ? Reflect.get(connection, "stream")
      : undefined;
  const destroy: unknown =
    typeof stream === "object" && stream !== null ? Reflect.get(stream, "destroy") : undefined;
  if (typeof destroy === "function") Reflect.apply(destroy, stream, []);
}
