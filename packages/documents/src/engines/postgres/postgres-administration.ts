import type { PoolClient } from "pg";
import type { Administration, CheckResult } from "../../api/administration.ts";
import type { CollectionDefinition } from "../../api/definition.ts";
import { DocumentsTypeError } from "../../api/errors.ts";
import type { Migration, PlanStep, StoreStatus } from "../../api/migration.ts";
import type { Loading, Snapshot } from "../../api/transfer.ts";
import { parseMigrations, pendingMigrations } from "../../migrations/migrate.ts";
import { checkStore } from "./checking.ts";
import { planTables, readMigrations, readStatus } from "./planning.ts";
import type { Table } from "./table.ts";
import { createSnapshot } from "./transferring.ts";

/** What the care of a store needs of it. */
export interface Cared {
  readonly isDistributed: boolean;
  /** Reads in a transaction that keeps to one moment. */
  look<R>(work: (client: PoolClient) => Promise<R>): Promise<R>;
  load<R>(work: (loading: Loading) => Promise<R>): Promise<R>;
  sweep(): Promise<number>;
  createTable(definition: CollectionDefinition<unknown>): Table;
}

/** The care of a store in PostgreSQL. */
export class PostgresAdministration implements Administration {
  readonly #store: Cared;

  constructor(store: Cared) {
    this.#store = store;
  }

  status(): Promise<StoreStatus> {
    return this.#store.look(readStatus);
  }

  async plan(wanted: {
    readonly collections?: readonly CollectionDefinition<object>[] | undefined;
    readonly migrations?: readonly Migration[] | undefined;
  }): Promise<readonly PlanStep[]> {
    const { collections = [], migrations } = wanted;
    const given = migrations === undefined ? undefined : parseMigrations(migrations);
    return this.#store.look(async (client) => {
      const pending =
        given === undefined ? [] : pendingMigrations(given, await readMigrations(client));
      const steps = pending.map(({ id, name }): PlanStep => ({ kind: "migrate", id, name }));
      return [
        ...steps,
        ...(await planTables(
          client,
          collections.map((definition) => this.#store.createTable(definition)),
        )),
      ];
    });
  }

  backup(): Promise<void> {
    return Promise.reject(
      new DocumentsTypeError(
        "ERR_DOCUMENTS_OPTIONS",
        '"backup" writes a file of SQLite, expected `fetchwork db backup` or pg_dump for PostgreSQL',
      ),
    );
  }

  check(): Promise<CheckResult> {
    const { isDistributed } = this.#store;
    return this.#store.look((client) => checkStore(client, { isDistributed }));
  }

  snapshot<R>(work: (snapshot: Snapshot) => Promise<R>): Promise<R> {
    return this.#store.look(async (client) => work(await createSnapshot(client)));
  }

  load<R>(work: (loading: Loading) => Promise<R>): Promise<R> {
    return this.#store.load(work);
  }

  sweep(): Promise<number> {
    return this.#store.sweep();
  }
}
