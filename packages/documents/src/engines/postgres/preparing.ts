import type { Layout } from "../layout.ts";
import { postgresLayout } from "./access-through.ts";
import { Building } from "./building.ts";
import type { Connections } from "./connections/connections.ts";
import { toDocumentsError } from "./connections/postgres-error.ts";
import { FreeSession } from "./connections/session.ts";
import { lockTable } from "./lock-table.ts";
import { prepareTables } from "./schema/schema.ts";
import type { PostgresLayout } from "./statements/layout.ts";

/** Prepares each collection once, and has what takes long built while it is in use. */
export class Preparing {
  readonly building: Building;
  readonly #connections: Connections;
  readonly #isDistributed: boolean;
  readonly #ready = new Map<Layout, Promise<void> | "ready">();

  constructor(connections: Connections, { isDistributed }: { readonly isDistributed: boolean }) {
    this.#connections = connections;
    this.#isDistributed = isDistributed;
    this.building = new Building(connections, this.#ready);
  }

  /** Creates the store's own tables. */
  createOwnTables(): Promise<void> {
    return this.#prepareTables([]);
  }

  /** Whether a collection is prepared. */
  isReady(layout: Layout): boolean {
    return this.#ready.get(layout) === "ready";
  }

  /** Has a collection prepared again when it is used next. */
  forget(layout: Layout): void {
    this.#ready.delete(layout);
  }

  /** Prepares a collection once; again after a failure. */
  async prepare(layout: Layout): Promise<void> {
    const known = this.#ready.get(layout);
    if (known === "ready") return;
    const preparing = known ?? this.#prepareNow(layout);
    this.#ready.set(layout, preparing);
    await preparing;
  }

  async #prepareNow(layout: Layout): Promise<void> {
    const prepared = postgresLayout(layout);
    try {
      await this.#prepareTables([prepared]);
      this.#ready.set(layout, "ready");
      this.building.keepFresh();
    } catch (error) {
      this.#ready.delete(layout);
      throw toDocumentsError(error, prepared);
    }
  }

  async #prepareTables(layouts: readonly PostgresLayout[]): Promise<void> {
    const left = await prepareTables(this.#connections, layouts, {
      isDistributed: this.#isDistributed,
      locks: lockTable(new FreeSession(this.#connections)),
    });
    for (const layout of left) this.building.start(layout);
  }
}
