import type { PoolClient } from "pg";
import { quoteName } from "../../dialect.ts";
import { execute, run } from "../connections/connections.ts";
import { runOperation } from "../connections/run-operation.ts";
import { sessionOn } from "../connections/session.ts";
import type { PostgresLayout } from "../statements/layout.ts";
import { dropOthers } from "./generations.ts";
import { dropTotal } from "./kept-total.ts";

/** Drops the indexes and search texts of a table that its definition does not ask for. */
export async function dropUnused(client: PoolClient, layout: PostgresLayout): Promise<void> {
  const { quoted, search } = layout;
  const wanted = new Set(layout.indexes.map(({ name }) => name));
  const built = await runOperation(sessionOn(client), layout.builtIndexes());
  for (const name of built.keys()) {
    if (wanted.has(name) || layout.fieldsOfIndex(name) === undefined) continue;
    await execute(client, `DROP INDEX CONCURRENTLY IF EXISTS ${quoteName(name)}`);
  }
  if (!layout.keepsTotal) await dropTotal(client, layout);
  await dropOthers(client, layout, Number.MAX_SAFE_INTEGER);
  // Also those of generations that were dropped because no program used them.
  const { rows: columns } = await run(client, {
    text:
      "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass($1) AND NOT attisdropped " +
      "AND attname ~ '^search_[0-9a-f]{12}(_of)?$'",
    values: [quoted],
  });
  const kept = new Set([search.own?.text, search.own?.of]);
  const dropped = columns.map(([name]) => String(name)).filter((name) => !kept.has(name));
  if (dropped.length === 0) return;
  const drops = dropped.map((name) => `DROP COLUMN IF EXISTS ${name}`);
  await execute(client, `ALTER TABLE ${quoted} ${drops.join(", ")}`);
}
