import type { PoolClient } from "pg";
import type { AppliedMigration, PlanStep, StoreStatus } from "../../api/migration.ts";
import { run } from "./connections.ts";
import { type Derived, wantedDerived } from "./derived-columns.ts";
import { MIGRATIONS, REGISTRY } from "./own-tables.ts";
import { readIndexes } from "./schema.ts";
import { quoteName } from "./sql.ts";
import type { Table } from "./table.ts";

/** Reads the migrations that ran, in order. */
export async function readMigrations(client: PoolClient): Promise<readonly AppliedMigration[]> {
  const rows = await all(client, `SELECT id, name, at FROM ${MIGRATIONS} ORDER BY id`);
  return rows.map(([id, name, at]) => ({ id: Number(id), name: String(name), at: String(at) }));
}

/** Tells what the store holds. */
export async function readStatus(client: PoolClient): Promise<StoreStatus> {
  const collections: { readonly name: string; readonly documents: number }[] = [];
  let bytes = 0;
  for (const [name] of await all(client, `SELECT name FROM ${REGISTRY} ORDER BY name`)) {
    const quoted = quoteName(String(name));
    const [row] = await all(
      client,
      `SELECT count(*) FILTER (WHERE deleted_at IS NULL), ` +
        `(SELECT pg_total_relation_size(to_regclass($1))) FROM ${quoted}`,
      [quoted],
    );
    collections.push({ name: String(name), documents: Number(row?.[0]) });
    bytes += Number(row?.[1]);
  }
  const [version] = await all(client, "SHOW server_version");
  return {
    engine: `PostgreSQL ${String(version?.[0]).split(" ", 1)[0]}`,
    collections,
    migrations: await readMigrations(client),
    bytes,
  };
}

/** Tells what preparing the tables would do, and what no table asks for. */
export async function planTables(
  client: PoolClient,
  tables: readonly Table[],
): Promise<readonly PlanStep[]> {
  const registered = new Map(
    (await all(client, `SELECT name, search, expires, geo FROM ${REGISTRY} ORDER BY name`)).map(
      ([name = null, search = null, expires = null, geo = null]) => [
        String(name),
        { search, expires, geo },
      ],
    ),
  );
  const steps: PlanStep[] = [];
  for (const table of tables) {
    const { name } = table.definition;
    const current = registered.get(name);
    registered.delete(name);
    if (current === undefined) {
      steps.push({ kind: "create-collection", collection: name, fields: [] });
    } else {
      steps.push(...(await planTable(client, table, current)));
    }
  }
  for (const name of registered.keys()) {
    steps.push({ kind: "unknown-collection", collection: name });
  }
  return steps;
}

async function planTable(
  client: PoolClient,
  table: Table,
  current: Derived,
): Promise<readonly PlanStep[]> {
  const { name: collection, search, expires, geo = [] } = table.definition;
  const steps: PlanStep[] = [];
  const built = await readIndexes(client, table);
  const wanted = new Set([table.idConstraint, table.searchIndex]);
  for (const { name, fields } of table.indexes) {
    wanted.add(name);
    if (built.get(name) !== true) steps.push({ kind: "build-index", collection, fields });
  }
  const derived = wantedDerived(table);
  if (derived.search !== current.search) {
    const kind = search.length === 0 ? "drop-search" : "build-search";
    steps.push({ kind, collection, fields: search });
  }
  if (derived.expires !== current.expires) {
    const fields = expires === undefined ? [] : [expires.field];
    steps.push({ kind: "rebuild-expiry", collection, fields });
  }
  if (derived.geo !== current.geo) {
    steps.push({ kind: geo.length === 0 ? "drop-geo" : "build-geo", collection, fields: geo });
  }
  for (const name of built.keys()) {
    // The fields are only there as a hash.
    const isOurs = /:(?:geo|index|unique):[0-9a-f]{16}$/.test(name);
    if (isOurs && !wanted.has(name)) steps.push({ kind: "unused-index", collection, fields: [] });
  }
  return steps;
}

async function all(
  client: PoolClient,
  text: string,
  values: readonly string[] = [],
): Promise<readonly (readonly (string | null)[])[]> {
  return (await run(client, { text, values })).rows;
}
