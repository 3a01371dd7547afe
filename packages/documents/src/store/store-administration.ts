import { randomUUID } from "node:crypto";
import type { Administration, CheckResult } from "../api/administration.ts";
import { checkOptions } from "../api/check-options.ts";
import type { Collection } from "../api/collection.ts";
import type { CollectionDefinition } from "../api/definition.ts";
import type { ExplainedQuery, ExplainOptions, Explanation } from "../api/explanation.ts";
import type { Migration, PlanStep, StoreStatus } from "../api/migration.ts";
import type { DocumentRecord, Loading, Snapshot } from "../api/transfer.ts";
import { checkRecord } from "../document/check-record.ts";
import { recordOf, recordPages } from "../document/record-pages.ts";
import { toStored } from "../document/stored.ts";
import { quoteName } from "../engines/dialect.ts";
import type { Engine, SnapshotAccess, TransactionAccess } from "../engines/engine.ts";
import type { Layout, NewRow } from "../engines/layout.ts";
import type { Operation, Result } from "../engines/operation.ts";
import { releaseLock, takeLock } from "../engines/operations/locks.ts";
import {
  forgetMigration,
  readMigrations,
  recordMigration,
} from "../engines/operations/migrations.ts";
import { planCollections } from "../engines/operations/plan-collections.ts";
import { parseMigrations, pendingMigrations } from "../migrations/migrate.ts";
import { parseExplain } from "../query/parse-explain.ts";
import { explanationOf } from "./explanation.ts";

const maxProblems = 100;
/** Callers of `probe` within this time share one, in milliseconds. */
const probeInterval = 1000;

/** The part of a store that its administration needs. */
interface Administered {
  /** Takes a collection into use. */
  readonly layoutOf: (definition: CollectionDefinition<object>) => Layout;
  /** Finds a collection that is in use. */
  readonly layoutNamed: (name: string) => Layout;
  readonly sweep: () => Promise<number>;
}

/** The care of a store. */
export class StoreAdministration implements Administration {
  readonly #engine: Engine;
  readonly #store: Administered;
  #probe: Promise<void> = Promise.resolve();
  #probedAt = -Infinity;

  constructor(engine: Engine, store: Administered) {
    this.#engine = engine;
    this.#store = store;
  }

  status(): Promise<StoreStatus> {
    return this.#engine.snapshot((access) => access.own((begin) => this.#engine.status(begin)));
  }

  async plan(wanted: {
    readonly collections?: readonly CollectionDefinition<object>[] | undefined;
    readonly migrations?: readonly Migration[] | undefined;
  }): Promise<readonly PlanStep[]> {
    checkOptions("plan", wanted, ["collections", "migrations"]);
    const { collections = [], migrations } = wanted;
    const given = migrations === undefined ? undefined : parseMigrations(migrations);
    const layouts = collections.map((definition) => this.#engine.layout(definition));
    return this.#engine.snapshot(async (access) => {
      const applied = await access.own((begin) => readMigrations(begin()));
      const pending = given === undefined ? [] : pendingMigrations(given, applied);
      const steps = pending.map(({ id, name }): PlanStep => ({ kind: "migrate", id, name }));
      return [...steps, ...(await access.own((begin) => planCollections(begin(), layouts)))];
    });
  }

  built(): Promise<void> {
    return this.#engine.built();
  }

  async dropUnused(
    collections: readonly CollectionDefinition<object>[],
  ): Promise<readonly PlanStep[]> {
    const steps = await this.plan({ collections });
    await this.#engine.dropUnused(collections.map((each) => this.#store.layoutOf(each)));
    return steps.filter(({ kind }) => kind === "unused-index" || kind === "unused-search");
  }

  explain<T extends object>(
    collection: Collection<T> | CollectionDefinition<T>,
    query: ExplainedQuery<T> = {},
    options: ExplainOptions = {},
  ): Explanation {
    const plan = parseExplain(query, options);
    const layout =
      "unique" in collection
        ? this.#store.layoutOf(collection)
        : this.#store.layoutNamed(collection.name);
    return explanationOf(layout.definition, plan);
  }

  async backup(path: string): Promise<void> {
    await this.#engine.backup(path);
  }

  async check(): Promise<CheckResult> {
    const problems = await this.#engine.check();
    return { ok: problems.length === 0, problems: problems.slice(0, maxProblems) };
  }

  probe(): Promise<void> {
    const now = performance.now();
    if (now - this.#probedAt < probeInterval) return this.#probe;
    this.#probedAt = now;
    this.#probe = this.#probeNow();
    return this.#probe;
  }

  async #probeNow(): Promise<void> {
    const lock = { name: "fetchwork:probe", token: randomUUID() };
    await this.#engine.writeOwn((begin) => takeLock(begin(), { ...lock, expiry: 0 }));
    await this.#engine.writeOwn((begin) => releaseLock(begin(), lock));
  }

  async snapshot<R>(work: (snapshot: Snapshot) => Promise<R>): Promise<R> {
    return this.#engine.snapshot(async (access) => {
      const status = await access.own((begin) => this.#engine.status(begin));
      return work({
        status,
        records: (collection, { after = "" } = {}) => readRecords(access, collection, after),
      });
    });
  }

  async load<R>(work: (loading: Loading) => Promise<R>): Promise<R> {
    return this.#engine.load((access) => work(this.#loadingThrough(access)));
  }

  sweep(): Promise<number> {
    return this.#store.sweep();
  }

  #loadingThrough(access: TransactionAccess): Loading {
    return {
      add: async (definition, records) => {
        const layout = this.#store.layoutOf(definition);
        await access.write(layout, () => addRecords(layout, records));
      },
      noteMigrations: async (migrations) => {
        for (const migration of migrations) {
          await access.own((begin) => recordMigration(begin(), migration));
        }
      },
      forgetMigration: (id) => access.own((begin) => forgetMigration(begin(), id)),
    };
  }
}

/** Reads every document of a collection in the order of the ids. */
async function* readRecords(
  access: SnapshotAccess,
  collection: string,
  after: string,
): AsyncGenerator<DocumentRecord> {
  const hasRemoved = await access.hasColumn(collection, "deleted_at");
  yield* recordPages(async (last, limit) => {
    const { rows } = await access.own(function* (begin): Operation<Result> {
      const sql = begin();
      return yield sql.read(
        `SELECT id, version, created_at, updated_at, doc, ${hasRemoved ? "deleted_at" : "NULL"} ` +
          `FROM ${quoteName(collection)} WHERE id > ${sql.bind(last, "text")} ` +
          `ORDER BY id LIMIT ${sql.bind(limit, "bigint")}`,
      );
    });
    return rows.map((row) => {
      // Only checks the row, which may be damaged.
      toStored(collection, row.slice(0, 5));
      return recordOf(row);
    });
  }, after);
}

function* addRecords(layout: Layout, records: readonly DocumentRecord[]): Operation<void> {
  if (records.length === 0) return;
  const { name } = layout.definition;
  const rows = records.map((record): NewRow => {
    const {
      id,
      version,
      createdAt,
      updatedAt,
      deletedAt = null,
      text,
    } = checkRecord(record, layout);
    const stored = toStored<object>(name, [id, version, createdAt, updatedAt, text]);
    return { id, version, createdAt, updatedAt, deletedAt, text, stored };
  });
  yield* layout.insert(rows, undefined);
  const count = rows.filter(({ deletedAt }) => deletedAt === null).length;
  yield { kind: "added", collection: name, count };
}
