import type { AppliedMigration, PlanStep, StoreStatus } from "../../api/migration.ts";
import type { Connection } from "./connection.ts";
import { fieldsOfIndex, indexDefinitions } from "./index-definition.ts";
import { MIGRATIONS, REGISTRY } from "./layout.ts";
import { wantedExpires, wantedGeo, wantedSearch } from "./schema.ts";
import type { Table } from "./table.ts";

/** Reads the migrations that ran, in order. */
export function appliedMigrations(connection: Connection): readonly AppliedMigration[] {
  return connection
    .all(`SELECT id, name, at FROM ${MIGRATIONS} ORDER BY id`, [])
    .map(([id, name, at]) => ({ id: Number(id), name: String(name), at: String(at) }));
}

/** Tells what the store holds. */
export function readStatus(connection: Connection): StoreStatus {
  const number = (sql: string): number => Number(connection.get(sql, [])?.[0]);
  return {
    engine: `SQLite ${String(connection.get("SELECT sqlite_version()", [])?.[0])}`,
    collections: connection
      .all(`SELECT name, documents FROM ${REGISTRY} ORDER BY name`, [])
      .map(([name, documents]) => ({ name: String(name), documents: Number(documents) })),
    migrations: appliedMigrations(connection),
    bytes: number("PRAGMA page_count") * number("PRAGMA page_size"),
  };
}

/** Tells what preparing the tables would do, and what no table asks for. */
export function planTables(connection: Connection, tables: readonly Table[]): readonly PlanStep[] {
  const registered = new Map(
    connection
      .all(`SELECT name, search, expires, geo FROM ${REGISTRY} ORDER BY name`, [])
      .map(([name, search, expires, geo]) => [String(name), { search, expires, geo }]),
  );
  const steps: PlanStep[] = [];
  for (const table of tables) {
    const { name } = table.definition;
    const current = registered.get(name);
    registered.delete(name);
    if (current === undefined) {
      steps.push({ kind: "create-collection", collection: name, fields: [] });
    } else {
      steps.push(...planTable(connection, table, current));
    }
  }
  for (const name of registered.keys()) {
    steps.push({ kind: "unknown-collection", collection: name });
  }
  return steps;
}

function planTable(
  connection: Connection,
  table: Table,
  current: { readonly search: unknown; readonly expires: unknown; readonly geo: unknown },
): readonly PlanStep[] {
  const { name: collection, search, expires, geo = [] } = table.definition;
  const steps: PlanStep[] = [];
  const built = new Set(
    connection
      .all("SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = ?", [collection])
      .map(([name]) => String(name)),
  );
  for (const { name, fields } of indexDefinitions(table)) {
    if (!built.delete(name)) steps.push({ kind: "build-index", collection, fields });
  }
  if (wantedSearch(table) !== current.search) {
    const kind = search.length === 0 ? "drop-search" : "build-search";
    steps.push({ kind, collection, fields: search });
  }
  if (wantedExpires(table) !== current.expires) {
    const fields = expires === undefined ? [] : [expires.field];
    steps.push({ kind: "rebuild-expiry", collection, fields });
  }
  if (wantedGeo(table) !== current.geo) {
    steps.push({ kind: geo.length === 0 ? "drop-geo" : "build-geo", collection, fields: geo });
  }
  for (const name of built) {
    const fields = fieldsOfIndex(name);
    if (fields !== undefined) steps.push({ kind: "unused-index", collection, fields });
  }
  return steps;
}
