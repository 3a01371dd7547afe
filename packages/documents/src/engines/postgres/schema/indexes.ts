import type { PoolClient } from "pg";
import { definitionError } from "../../../api/errors.ts";
import { quoteName } from "../../dialect.ts";
import { execute } from "../connections/connections.ts";
import { sqlState } from "../connections/postgres-error.ts";
import { runOperation } from "../connections/run-operation.ts";
import { sessionOn } from "../connections/session.ts";
import type { PostgresIndex } from "../statements/indexes.ts";
import type { PostgresLayout } from "../statements/layout.ts";

/** A row of the catalogue is too big; an index has too many columns. */
const tooBigCodes: ReadonlySet<string | undefined> = new Set(["54000", "54011"]);

/** Builds the indexes that a table lacks. Leaves those of a large table that are not unique. */
export async function prepareIndexes(
  client: PoolClient,
  layout: PostgresLayout,
  { isLarge }: { readonly isLarge: boolean },
): Promise<{ readonly isBuilt: boolean; readonly isLeft: boolean }> {
  const known = await readIndexes(client, layout);
  const missing = layout.indexes.filter(({ name }) => known.get(name) !== true);
  // A unique index must refuse values before anything is written.
  const now = isLarge ? missing.filter(({ isUnique }) => isUnique) : missing;
  for (const index of now) {
    // A build that did not end leaves an index that nothing uses.
    if (known.has(index.name)) await execute(client, `DROP INDEX ${quoteName(index.name)}`);
    await buildIndex(client, layout, index);
  }
  return { isBuilt: now.length > 0, isLeft: now.length < missing.length };
}

/** Builds the remaining indexes. A build that did not end leaves an index that nothing uses. */
export async function buildLeftIndexes(
  client: PoolClient,
  layout: PostgresLayout,
  signal: AbortSignal,
): Promise<void> {
  const known = await readIndexes(client, layout);
  for (const index of layout.indexes) {
    if (known.get(index.name) === true) continue;
    signal.throwIfAborted();
    const name = quoteName(index.name);
    if (known.has(index.name)) await execute(client, `DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
    await buildIndex(client, layout, index);
  }
}

async function buildIndex(
  client: PoolClient,
  layout: PostgresLayout,
  index: PostgresIndex,
): Promise<void> {
  try {
    await createIndex(client, layout, { index, how: "CONCURRENTLY " });
  } catch (error) {
    await execute(client, `DROP INDEX IF EXISTS ${quoteName(index.name)}`).catch(() => undefined);
    throw error;
  }
}

/**
 * Creates an index. Its definition is one row of the catalogue, which has 8 KB. If there are
 * many nested fields, it gets those that fit. That finds and sorts the same, if not all of it by
 * the index.
 */
export async function createIndex(
  client: PoolClient,
  layout: PostgresLayout,
  { index, how }: { readonly index: PostgresIndex; readonly how: "" | "CONCURRENTLY " },
): Promise<void> {
  const { columns, shorter = [] } = index;
  const begin = how === "" ? "SAVEPOINT before_index" : "";
  for (const [attempt, each] of [columns, ...shorter].entries()) {
    try {
      if (begin !== "") await execute(client, begin);
      await execute(client, indexSql(layout, { ...index, columns: each }, how));
      return;
    } catch (error) {
      if (!tooBigCodes.has(sqlState(error))) throw error;
      if (attempt === shorter.length) throw tooBig(layout, index, error);
      if (begin !== "") await execute(client, "ROLLBACK TO SAVEPOINT before_index");
    }
  }
}

/** A unique index of fewer fields would refuse more than the definition does. */
function tooBig(
  { definition: { name } }: PostgresLayout,
  { fields }: PostgresIndex,
  cause: unknown,
): Error {
  return definitionError(
    `the index of "${name}" over ${fields.join(", ")} is larger than a row of PostgreSQL's catalog, expected ` +
      "up to six fields, or fewer that are nested",
    { cause },
  );
}

function indexSql(layout: PostgresLayout, index: PostgresIndex, how: "" | "CONCURRENTLY "): string {
  const unique = index.isUnique ? "UNIQUE " : "";
  const isGin = index.method === "gin";
  const condition = index.condition === undefined ? "" : ` AND ${index.condition}`;
  return (
    `CREATE ${unique}INDEX ${how}${quoteName(index.name)} ON ${layout.quoted}` +
    `${isGin ? " USING gin" : ""} (${index.columns})${isGin ? " WITH (fastupdate = off)" : ""} ` +
    `WHERE deleted_at IS NULL${condition}`
  );
}

/** Reads which indexes a table has, and whether they are complete. */
export function readIndexes(
  client: PoolClient,
  layout: PostgresLayout,
): Promise<ReadonlyMap<string, boolean>> {
  return runOperation(sessionOn(client), layout.builtIndexes());
}
