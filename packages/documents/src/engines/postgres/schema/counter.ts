import type { PoolClient } from "pg";
import { execute, run } from "../connections/connections.ts";
import {
  countOnce,
  countTriggers,
  createCounts,
  createCountTriggers,
  forgetCounts,
  readKeptTotal,
} from "../statements/kept-totals.ts";
import type { PostgresLayout } from "../statements/layout.ts";

/** Whether the number of documents is kept, or is not to be. */
export async function hasCounter(client: PoolClient, layout: PostgresLayout): Promise<boolean> {
  if (!layout.keepsTotal) return true;
  const triggers = countTriggers(layout);
  const { rows } = await run(client, {
    text:
      "SELECT count(*) FROM pg_trigger WHERE tgrelid = to_regclass($1) AND tgname = ANY($2::text[]) " +
      "AND tgenabled <> 'D'",
    values: [layout.quoted, triggers],
  });
  if (Number(rows[0]?.[0]) < triggers.length) return false;
  const { text, values } = readKeptTotal(layout.definition.name, layout.begin());
  const known = await run(client, { text, values });
  return Number(known.rows[0]?.[0]) >= 0;
}

/** Has the server keep the number of documents from now on, and counts those that there are. */
export async function createCounter(client: PoolClient, layout: PostgresLayout): Promise<void> {
  if (await hasCounter(client, layout)) return;
  const { rows } = await run(client, {
    text: "SELECT relnamespace::regnamespace::text FROM pg_class WHERE oid = to_regclass($1)",
    values: [layout.quoted],
  });
  const schema = String(rows[0]?.[0]);
  await execute(client, createCounts());
  // What was counted without one of the triggers is worth nothing. Statements that are sent as one happen together.
  const statements = [...createCountTriggers(layout, schema), forgetCounts(layout)];
  await execute(client, statements.join("; "));
  await execute(client, countOnce(layout));
}
