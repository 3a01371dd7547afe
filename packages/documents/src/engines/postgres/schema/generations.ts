import type { PoolClient } from "pg";
import { hashOf, unusedTime } from "../../derived.ts";
import { quoteName } from "../../dialect.ts";
import { generationsTable } from "../../own-tables.ts";
import { execute, run } from "../connections/connections.ts";
import { sqlState } from "../connections/postgres-error.ts";
import { runOperation } from "../connections/run-operation.ts";
import { sessionOn } from "../connections/session.ts";
import type { PostgresLayout } from "../statements/layout.ts";
import { searchNames } from "../statements/search-texts.ts";

const lockNotAvailable = "55P03";
/** Time for which other statements may wait behind a change of the table, in milliseconds. */
const lockTimeout = 500;

/** Takes note of the registered generations. */
export async function readGenerations(
  client: PoolClient,
  { search }: PostgresLayout,
): Promise<void> {
  search.use(await runOperation(sessionOn(client), search.registered()));
}

/** Whether this program's generation is registered and built, or it has none; notes use. */
export async function areGenerationsReady(
  client: PoolClient,
  layout: PostgresLayout,
): Promise<boolean> {
  const { search } = layout;
  await readGenerations(client, layout);
  if (search.derived === null) return true;
  if (search.own?.isBuilt !== true) return false;
  await runOperation(sessionOn(client), search.touch());
  return true;
}

/**
 * Registers what this program searches. In a new table it is known to every program, and gets the
 * column that all tables have; later it gets columns for itself.
 */
export async function registerGeneration(
  client: PoolClient,
  layout: PostgresLayout,
): Promise<void> {
  const { definition, search, quoted } = layout;
  await readGenerations(client, layout);
  if (search.derived === null) return;
  if (search.own !== undefined) {
    await runOperation(sessionOn(client), search.touch());
    return;
  }
  const suffix = hashOf(search.derived);
  const { text, of } = searchNames(definition.name, suffix);
  await patiently(
    client,
    `ALTER TABLE ${quoted} ADD COLUMN IF NOT EXISTS ${text} text COLLATE "C", ` +
      `ADD COLUMN IF NOT EXISTS ${of ?? ""} bigint`,
  );
  await insertGeneration(client, layout, { suffix, derived: search.derived });
  await readGenerations(client, layout);
}

/** Registers the generation of a new table. */
export async function registerFirst(client: PoolClient, layout: PostgresLayout): Promise<void> {
  const { derived } = layout.search;
  if (derived === null) return;
  await insertGeneration(client, layout, { suffix: "", derived });
}

/** Notes that everything of this program's generation was derived once. */
export async function finishGeneration(client: PoolClient, layout: PostgresLayout): Promise<void> {
  await run(client, {
    text: `UPDATE ${generationsTable} SET built = true WHERE collection = $1 AND derived = $2`,
    values: [layout.definition.name, layout.search.derived],
  });
  await readGenerations(client, layout);
}

/**
 * Drops the indexes of generations that no program used for 7 days. Their columns stay, because a
 * program that knows of them may still write to them.
 */
export function dropAbandoned(client: PoolClient, layout: PostgresLayout): Promise<void> {
  return dropOthers(client, layout, Date.now() - unusedTime);
}

/** Forgets other programs' generations that were used before a time, and drops their indexes. */
export async function dropOthers(
  client: PoolClient,
  { definition, search }: PostgresLayout,
  usedBefore: number,
): Promise<void> {
  const { rows } = await run(client, {
    text:
      `DELETE FROM ${generationsTable} WHERE collection = $1 AND derived <> $2 AND used < $3 ` +
      "RETURNING suffix",
    values: [definition.name, search.derived ?? "", usedBefore],
  });
  for (const [suffix] of rows) {
    const { index, staleIndex } = searchNames(definition.name, String(suffix));
    await execute(client, `DROP INDEX CONCURRENTLY IF EXISTS ${quoteName(index)}`);
    await execute(client, `DROP INDEX CONCURRENTLY IF EXISTS ${quoteName(staleIndex)}`);
  }
}

async function insertGeneration(
  client: PoolClient,
  { definition }: PostgresLayout,
  { suffix, derived }: { readonly suffix: string; readonly derived: string },
): Promise<void> {
  await run(client, {
    text: `INSERT INTO ${generationsTable} (collection, derived, suffix, built, used) VALUES ($1, $2, $3, false, $4)`,
    values: [definition.name, derived, suffix, Date.now()],
  });
}

/** Changes a table without making other statements wait behind it for long. */
async function patiently(client: PoolClient, text: string): Promise<void> {
  for (;;) {
    await execute(client, "BEGIN");
    try {
      await execute(client, `SET LOCAL lock_timeout = ${lockTimeout}`);
      await execute(client, text);
      await execute(client, "COMMIT");
      return;
    } catch (error) {
      await execute(client, "ROLLBACK").catch(() => undefined);
      if (sqlState(error) !== lockNotAvailable) throw error;
    }
  }
}
