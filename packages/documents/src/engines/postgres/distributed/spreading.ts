import type { PoolClient } from "pg";
import { migrationsTable, positionsTable } from "../../own-tables.ts";
import { run } from "../connections/connections.ts";
import type { PostgresLayout } from "../statements/layout.ts";
import { claimsTable, feedEndTable } from "../statements/own-tables.ts";
import { DistributedLayout } from "./distributed-layout.ts";

/** A statement for a table that Citus does not know yet. */
interface Spreading {
  readonly text: string;
  readonly values: readonly string[];
}

const spread =
  "SELECT create_distributed_table($1::text::regclass, $2::text, colocate_with => 'none')";

/**
 * Keeps a table on the coordinator, but lets Citus know it. Citus commits a change of a table that
 * it does not know after the change of a single worker. A crash or a conflict could leave one
 * without the other. If it knows the table, both are prepared first.
 */
const keep = "SELECT citus_add_local_table_to_metadata($1::text::regclass)";

/** Tables that transactions write next to documents: a write to the feed moves its end, too. */
const keptTables: readonly string[] = [feedEndTable, positionsTable, migrationsTable];

/** Whether the tables of a collection are fully spread: nothing to do without Citus. */
export async function areTablesSpread(
  client: PoolClient,
  layout: PostgresLayout,
): Promise<boolean> {
  return (await spreadingsLeft(client, layout)).length === 0;
}

/** Spreads the tables of a collection over Citus servers, if the database has Citus. */
export async function spreadTables(client: PoolClient, layout: PostgresLayout): Promise<void> {
  for (const { text, values } of await spreadingsLeft(client, layout)) {
    await run(client, { text, values });
  }
}

async function spreadingsLeft(
  client: PoolClient,
  layout: PostgresLayout,
): Promise<readonly Spreading[]> {
  if (!(layout instanceof DistributedLayout) || !(await hasCitus(client))) return [];
  const wanted: readonly Spreading[] = [
    { text: spread, values: [layout.quoted, "id"] },
    { text: spread, values: [claimsTable, "value"] },
    ...keptTables.map((table): Spreading => ({ text: keep, values: [table] })),
  ];
  const { rows } = await run(client, {
    text:
      "SELECT name FROM unnest($1::text[]) AS wanted (name) " +
      "WHERE to_regclass(name) NOT IN (SELECT logicalrelid FROM pg_dist_partition)",
    values: [wanted.map(({ values: [table = ""] }) => table)],
  });
  const unknown = new Set(rows.map(([name]) => name));
  return wanted.filter(({ values: [table = ""] }) => unknown.has(table));
}

async function hasCitus(client: PoolClient): Promise<boolean> {
  const text = "SELECT 1 FROM pg_extension WHERE extname = 'citus'";
  return (await run(client, { text, values: [] })).count > 0;
}
