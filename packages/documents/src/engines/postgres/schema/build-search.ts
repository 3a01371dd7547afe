import type { PoolClient } from "pg";
import { quoteName } from "../../dialect.ts";
import type { Row } from "../../operation.ts";
import { execute, run } from "../connections/connections.ts";
import { sqlState } from "../connections/postgres-error.ts";
import { runOperation } from "../connections/run-operation.ts";
import { sessionOn } from "../connections/session.ts";
import type { PostgresLayout } from "../statements/layout.ts";
import { staleKeySql, staleSql } from "../statements/search-texts.ts";
import { dropAbandoned, finishGeneration } from "./generations.ts";

/**
 * Derives the search texts of this program's generation and builds its indexes. It goes on where
 * another process ended: texts that are current are not derived again. `how` says whether the table
 * is in use.
 */
export async function buildSearch(
  client: PoolClient,
  layout: PostgresLayout,
  { how, signal }: { readonly how: "" | "CONCURRENTLY "; readonly signal?: AbortSignal },
): Promise<void> {
  await deriveStale(client, layout, signal);
  await buildIndexes(client, layout, how);
  await finishGeneration(client, layout);
  // Programs that do not know the generation changed documents while the indexes were built.
  await deriveStale(client, layout, signal);
  await dropAbandoned(client, layout);
}

/** Derives the texts of documents of which they are not current, in small transactions. */
async function deriveStale(
  client: PoolClient,
  { search }: PostgresLayout,
  signal: AbortSignal | undefined,
): Promise<void> {
  const session = sessionOn(client);
  for (let last: Row | undefined; ;) {
    signal?.throwIfAborted();
    const rows = await runOperation(session, search.readStale(last));
    if (rows.length === 0) return;
    await runOperation(session, search.store(rows));
    last = rows.at(-1);
  }
}

/**
 * Builds the indexes of this program's generation; `how` says whether the table is in use. Where
 * `pg_trgm` is not there or not allowed, searching reads every text.
 */
async function buildIndexes(
  client: PoolClient,
  { quoted, search: { own } }: PostgresLayout,
  how: "" | "CONCURRENTLY ",
): Promise<void> {
  if (own === undefined) return;
  const begin = `CREATE INDEX ${how}IF NOT EXISTS`;
  if (own.of !== undefined) {
    await dropUnfinished(client, quoted, own.staleIndex);
    await execute(
      client,
      `${begin} ${quoteName(own.staleIndex)} ON ${quoted} (${staleKeySql(own.of)}) WHERE ${staleSql(own.of)}`,
    );
  }
  await dropUnfinished(client, quoted, own.index);
  try {
    await execute(client, "CREATE EXTENSION IF NOT EXISTS pg_trgm");
    await execute(
      client,
      `${begin} ${quoteName(own.index)} ON ${quoted} USING gin (${own.text} gin_trgm_ops)`,
    );
  } catch (error) {
    if (sqlState(error) === undefined) throw error;
    await execute(client, `DROP INDEX IF EXISTS ${quoteName(own.index)}`);
  }
}

/** A build that did not end leaves an index that nothing uses. */
async function dropUnfinished(client: PoolClient, quoted: string, name: string): Promise<void> {
  const { count } = await run(client, {
    text:
      "SELECT 1 FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid " +
      "WHERE i.indrelid = to_regclass($1) AND c.relname = $2 AND NOT i.indisvalid",
    values: [quoted, name],
  });
  if (count > 0) await execute(client, `DROP INDEX CONCURRENTLY IF EXISTS ${quoteName(name)}`);
}
