import type { PoolClient } from "pg";
import { execute, run } from "../connections/connections.ts";
import type { PostgresLayout } from "../statements/layout.ts";
import {
  countOnce,
  createTotals,
  createTotalTriggers,
  dropTotalTriggers,
  forgetTotal,
  readTotal,
  totalTriggers,
} from "../statements/totals-table.ts";

/** Whether the total of a collection is kept, or need not be. */
export async function hasTotal(client: PoolClient, layout: PostgresLayout): Promise<boolean> {
  if (!layout.keepsTotal) return true;
  if (!(await hasTriggers(client, layout))) return false;
  const { text, values } = readTotal(layout.definition.name, layout.begin());
  const known = await run(client, { text, values });
  return Number(known.rows[0]?.[0]) >= 0;
}

/**
 * Has the server keep the total of a collection from now on. Returns whether {@link countTotal}
 * must count the documents that there are; until then the total is unknown.
 */
export async function createTotal(client: PoolClient, layout: PostgresLayout): Promise<boolean> {
  if (await hasTotal(client, layout)) return false;
  if (await hasTriggers(client, layout)) return true;
  const { rows } = await run(client, {
    text: "SELECT relnamespace::regnamespace::text FROM pg_class WHERE oid = to_regclass($1)",
    values: [layout.quoted],
  });
  const schema = String(rows[0]?.[0]);
  await execute(client, createTotals());
  // A total that was counted while a trigger was missing is wrong. Statements that are sent as one
  // happen together.
  const statements = [...createTotalTriggers(layout, schema), forgetTotal(layout)];
  await execute(client, statements.join("; "));
  return true;
}

/** Counts the documents that there were before the total was kept. */
export async function countTotal(client: PoolClient, layout: PostgresLayout): Promise<void> {
  await execute(client, countOnce(layout));
}

/** Ends the keeping of a total. */
export async function dropTotal(client: PoolClient, layout: PostgresLayout): Promise<void> {
  if ((await triggersOf(client, layout)).size === 0) return;
  await execute(client, dropTotalTriggers(layout).join("; "));
}

async function hasTriggers(client: PoolClient, layout: PostgresLayout): Promise<boolean> {
  const found = await triggersOf(client, layout);
  return totalTriggers(layout).every((trigger) => found.has(trigger));
}

/** Reads the names of the triggers of a table that are enabled. */
async function triggersOf(
  client: PoolClient,
  { quoted }: PostgresLayout,
): Promise<ReadonlySet<unknown>> {
  const { rows } = await run(client, {
    text:
      "SELECT tgname FROM pg_trigger WHERE tgrelid = to_regclass($1) AND tgname LIKE 'fetchwork:total:%' " +
      "AND tgenabled <> 'D'",
    values: [quoted],
  });
  return new Set(rows.map(([name]) => name));
}
