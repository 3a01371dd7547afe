import type { Administration, CheckResult } from "../../api/administration.ts";
import type { CollectionDefinition } from "../../api/definition.ts";
import type { Migration, PlanStep, StoreStatus } from "../../api/migration.ts";
import type { Loading, Snapshot } from "../../api/transfer.ts";
import { parseMigrations, pendingMigrations } from "../../migrations/migrate.ts";
import { writeWhole } from "./backup.ts";
import type { CareTask } from "./care.ts";
import type { Connection } from "./connection.ts";
import { appliedMigrations, planTables, readStatus } from "./planning.ts";
import { createTable } from "./table.ts";

/** What the care of a store needs of it. */
export interface Cared {
  look<R>(work: (connection: Connection) => R): Promise<R>;
  care(task: CareTask): Promise<readonly string[]>;
  snapshot<R>(work: (snapshot: Snapshot) => Promise<R>): Promise<R>;
  load<R>(work: (loading: Loading) => Promise<R>): Promise<R>;
  sweep(): Promise<number>;
}

/** The care of a store in SQLite. */
export class SqliteAdministration implements Administration {
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
    return this.#store.look((connection) => {
      const pending =
        given === undefined ? [] : pendingMigrations(given, appliedMigrations(connection));
      const steps = pending.map(({ id, name }): PlanStep => ({ kind: "migrate", id, name }));
      return [...steps, ...planTables(connection, collections.map(createTable))];
    });
  }

  backup(path: string): Promise<void> {
    return writeWhole(path, async (to) => {
      await this.#store.care({ kind: "backup", to });
    });
  }

  async check(): Promise<CheckResult> {
    const problems = await this.#store.care({ kind: "check" });
    return { ok: problems.length === 0, problems };
  }

  snapshot<R>(work: (snapshot: Snapshot) => Promise<R>): Promise<R> {
    return this.#store.snapshot(work);
  }

  load<R>(work: (loading: Loading) => Promise<R>): Promise<R> {
    return this.#store.load(work);
  }

  sweep(): Promise<number> {
    return this.#store.sweep();
  }
}
