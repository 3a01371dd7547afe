import { randomUUID } from "node:crypto";
import type { Administration } from "../api/administration.ts";
import { checkOptions } from "../api/check-options.ts";
import type { CollectionDefinition } from "../api/definition.ts";
import type { PlanStep } from "../api/migration.ts";
import type { DocumentRecord, Loading } from "../api/transfer.ts";
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
import { explanationOf, parseExplain } from "./explanation.ts";

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

/** Makes the administration of a store. */
export function createAdministration(engine: Engine, store: Administered): Administration {
  let probing: Promise<void> = Promise.resolve();
  let probedAt = -Infinity;
  const plan: Administration["plan"] = async (wanted) => {
    checkOptions("plan", wanted, ["collections", "migrations"]);
    const { collections = [], migrations } = wanted;
    const given = migrations === undefined ? undefined : parseMigrations(migrations);
    const layouts = collections.map((definition) => engine.layout(definition));
    return engine.snapshot(async (access) => {
      const applied = await access.own((begin) => readMigrations(begin()));
      const pending = given === undefined ? [] : pendingMigrations(given, applied);
      const steps = pending.map(({ id, name }): PlanStep => ({ kind: "migrate", id, name }));
      return [...steps, ...(await access.own((begin) => planCollections(begin(), layouts)))];
    });
  };
  return {
    status: () => engine.snapshot((access) => access.own((begin) => engine.status(begin))),
    plan,
    built: () => engine.built(),
    dropUnused: async (collections) => {
      const steps = await plan({ collections });
      await engine.dropUnused(collections.map(store.layoutOf));
      return steps.filter(({ kind }) => kind === "unused-index" || kind === "unused-search");
    },
    explain: (collection, query = {}, options = {}) => {
      const explained = parseExplain(query, options);
      const { definition } =
        "unique" in collection ? store.layoutOf(collection) : store.layoutNamed(collection.name);
      return explanationOf(definition, explained);
    },
    backup: (path) => engine.backup(path),
    check: async () => {
      const problems = await engine.check();
      return { ok: problems.length === 0, problems: problems.slice(0, maxProblems) };
    },
    probe: () => {
      const now = performance.now();
      if (now - probedAt >= probeInterval) {
        probedAt = now;
        probing = probe(engine);
      }
      return probing;
    },
    snapshot: (work) =>
      engine.snapshot(async (access) => {
        const status = await access.own((begin) => engine.status(begin));
        return work({
          status,
          records: (collection, { after = "" } = {}) => readRecords(access, collection, after),
        });
      }),
    load: (work) => engine.load((access) => work(loadingThrough(access, store))),
    sweep: store.sweep,
  };
}

async function probe(engine: Engine): Promise<void> {
  const lock = { name: "fetchwork:probe", token: randomUUID() };
  await engine.writeOwn((begin) => takeLock(begin(), { ...lock, expiry: 0 }));
  await engine.writeOwn((begin) => releaseLock(begin(), lock));
}

function loadingThrough(access: TransactionAccess, { layoutOf }: Administered): Loading {
  return {
    add: async (definition, records) => {
      const layout = layoutOf(definition);
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
