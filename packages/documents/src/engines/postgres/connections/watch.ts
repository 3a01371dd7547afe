import type { PoolClient } from "pg";

const lookInterval = 1000;

interface Slot {
  /** When the statement should have been answered. */
  deadline: number;
  /** Set while a statement is under way. */
  giveUp: (() => void) | undefined;
}

/**
 * Watches for statements that are never answered, with one timer for all of them. A timer for each,
 * which `query_timeout` of `pg` is, or a set that each enters and leaves, keeps the results of those
 * that are over in memory until a full collection, which costs more than the statements.
 */
export class Watch {
  readonly #slots = new Map<PoolClient, Slot>();
  #timer: NodeJS.Timeout | undefined;

  /**
   * Gives up the statement of a client that is not answered within the limit, to a second, and closes
   * its connection.
   */
  begin(client: PoolClient, limit: number, giveUp: () => void): void {
    const slot = this.#slots.get(client) ?? this.#add(client);
    slot.deadline = performance.now() + limit;
    slot.giveUp = giveUp;
  }

  end(client: PoolClient): void {
    const slot = this.#slots.get(client);
    if (slot !== undefined) slot.giveUp = undefined;
  }

  #add(client: PoolClient): Slot {
    const slot = { deadline: Infinity, giveUp: undefined };
    this.#slots.set(client, slot);
    client.once("end", () => this.#remove(client));
    this.#timer ??= setInterval(() => this.#look(), lookInterval).unref();
    return slot;
  }

  #remove(client: PoolClient): void {
    this.#slots.delete(client);
    if (this.#slots.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    const now = performance.now();
    for (const [client, { deadline, giveUp }] of this.#slots) {
      if (giveUp === undefined || deadline > now) continue;
      this.end(client);
      // The client would wait for the answer before it closes.
      destroySocket(client);
      giveUp();
    }
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
