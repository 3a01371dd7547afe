import type { PoolClient } from "pg";
import { parsePath } from "../../../api/field-path.ts";
import { quoteName } from "../../dialect.ts";
import { execute, run } from "../connections/connections.ts";
import { indexName } from "../statements/indexes.ts";
import { keyOf } from "../statements/keys.ts";
import type { PostgresLayout } from "../statements/layout.ts";

/**
 * Whether the server keeps statistics of every field that an index has. It keeps none of an index
 * with a condition, as all of ours have. Then it takes each value for half a percent of the
 * documents: from some 200,000 documents on it would read all in their order for the few that a
 * filter matches.
 */
export async function hasStatistics(client: PoolClient, layout: PostgresLayout): Promise<boolean> {
  return (await missingStatistics(client, layout)).length === 0;
}

/** Creates missing statistics of a table; returns whether any. ANALYZE fills them. */
export async function createStatistics(
  client: PoolClient,
  layout: PostgresLayout,
): Promise<boolean> {
  const missing = await missingStatistics(client, layout);
  for (const field of missing) {
    await execute(
      client,
      `CREATE STATISTICS IF NOT EXISTS ${quoteName(nameOf(layout, field))} ` +
        `ON ${keyOf(parsePath(field))} FROM ${layout.quoted}`,
    );
  }
  return missing.length > 0;
}

async function missingStatistics(
  client: PoolClient,
  layout: PostgresLayout,
): Promise<readonly string[]> {
  const fields = [...layout.indexed].filter((field) => parsePath(field).meta === undefined);
  // A table that is spread over servers has separate statistics on each.
  if (fields.length === 0 || !layout.keepsStatistics) return [];
  const { rows } = await run(client, {
    text: "SELECT stxname FROM pg_statistic_ext WHERE stxrelid = to_regclass($1)",
    values: [layout.quoted],
  });
  const known = new Set(rows.map(([name]) => name));
  return fields.filter((field) => !known.has(nameOf(layout, field)));
}

function nameOf({ definition }: PostgresLayout, field: string): string {
  return indexName(definition.name, "statistics", [field]);
}
