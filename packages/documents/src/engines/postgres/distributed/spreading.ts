import type { PoolClient } from "pg";
import { run } from "../connections/connections.ts";
import type { PostgresLayout } from "../statements/layout.ts";
import { claimsTable } from "../statements/own-tables.ts";
import { DistributedLayout } from "./distributed-layout.ts";

/** A table that Citus spreads over its servers by the hash of a column. */
interface SpreadTable {
  /** Name, quoted. */
  readonly name: string;
  readonly column: string;
}

/** Whether the tables of a collection are spread as far as they can be: without Citus there is nothing to do. */
export async function areTablesSpread(
  client: PoolClient,
  layout: PostgresLayout,
): Promise<boolean> {
  return (await tablesToSpread(client, layout)).length === 0;
}

/** Spreads the tables of a collection over the servers of Citus, where the database has this extension. */
export async function spreadTables(client: PoolClient, layout: PostgresLayout): Promise<void> {
  for (const { name, column } of await tablesToSpread(client, layout)) {
    await run(client, {
      text: "SELECT create_distributed_table($1::text::regclass, $2::text, colocate_with => 'none')",
      values: [name, column],
    });
  }
}

async function tablesToSpread(
  client: PoolClient,
  layout: PostgresLayout,
): Promise<readonly SpreadTable[]> {
  if (!(layout instanceof DistributedLayout) || !(await hasCitus(client))) return [];
  const tables: readonly SpreadTable[] = [
    { name: layout.quoted, column: "id" },
    { name: claimsTable, column: "value" },
  ];
  const { rows } = await run(client, {
    text:
      "SELECT logicalrelid::oid::text, to_regclass($1)::oid::text, to_regclass($2)::oid::text " +
      "FROM (SELECT 1) AS one LEFT JOIN pg_dist_partition " +
      "ON partmethod = 'h' AND logicalrelid IN (to_regclass($1), to_regclass($2))",
    values: tables.map(({ name }) => name),
  });
  const spread = new Set(rows.map(([oid]) => oid));
  return tables.filter((_table, place) => !spread.has(rows[0]?.[place + 1] ?? null));
}

async function hasCitus(client: PoolClient): Promise<boolean> {
  const text = "SELECT 1 FROM pg_extension WHERE extname = 'citus'";
  return (await run(client, { text, values: [] })).count > 0;
}
