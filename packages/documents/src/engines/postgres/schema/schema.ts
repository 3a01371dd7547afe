import { setTimeout as wait } from "node:timers/promises";
import type { PoolClient } from "pg";
import { DocumentsError, DocumentsTypeError } from "../../../api/errors.ts";
import { holdLock, type LockTable } from "../../../leases/hold-lock.ts";
import { quoteName } from "../../dialect.ts";
import { locksTable, registryTable } from "../../own-tables.ts";
import { type Connections, execute, run } from "../connections/connections.ts";
import { sqlState } from "../connections/postgres-error.ts";
import { runOperation } from "../connections/run-operation.ts";
import { sessionOn } from "../connections/session.ts";
import { createOnce } from "../distributed/distribution.ts";
import { areClaimsReady, prepareClaims } from "../distributed/preparing-claims.ts";
import type { PostgresIndex } from "../statements/indexes.ts";
import { createRemovedVersions } from "../statements/removed-version.ts";
import type { PostgresLayout } from "../statements/layout.ts";
import { createOwnTables } from "../statements/own-tables.ts";
import { analyzeSql } from "./analyzing.ts";
import { isCurrent, prepareDerived, readRegistry } from "./derived-columns.ts";
import { createStatistics, hasStatistics } from "./statistics.ts";
import { settleRemoved, wantedRemoved } from "./kept-removed.ts";
import { createTotal, hasTotal } from "./kept-total.ts";

/** The advisory lock of changes to the schema: "FWDR". */
const schemaLock = 0x46574452;

const lockPoll = 50;
/** The lock of changes to the schema of a distributed store, and for how long it is waited for. */
const schemaLease = "fetchwork:schema";
const lockTimeout = 3_600_000;
const tableExists = "42P07";
const tableMissing = "42P01";
const columnMissing = "42703";
/** A row of the catalogue is too big; an index has too many columns. */
const tooBigCodes: ReadonlySet<string | undefined> = new Set(["54000", "54011"]);

/**
 * Brings tables and indexes up to their definitions.
 *
 * What is there already is only looked at. Everything else happens under a lock, so that processes
 * that start together do it once; indexes of a table with documents are built while it is in use.
 */
export async function prepareTables(
  connections: Connections,
  layouts: readonly PostgresLayout[],
  { isDistributed, locks }: { readonly isDistributed: boolean; readonly locks: LockTable },
): Promise<void> {
  const missing = await withClient(connections, async (client) => {
    const found: PostgresLayout[] = [];
    for (const layout of layouts) if (!(await isReady(client, layout))) found.push(layout);
    return found.length > 0 || !(await hasOwnTables(client)) ? found : undefined;
  });
  if (missing === undefined) return;
  const statementTimeout = connections.isPooled ? undefined : connections.statementTimeout;
  if (!isDistributed) {
    const prepare = async (client: PoolClient): Promise<void> => {
      for (const text of createOwnTables(false)) await execute(client, text);
      await prepareAll(client, missing, statementTimeout);
    };
    if (connections.isPooled) await besideLock(connections, prepare);
    else await withClient(connections, (client) => underAdvisoryLock(client, prepare));
    return;
  }
  for (const text of createOwnTables(true)) await createOnce(connections, text);
  // No connection is held while the lock is waited for: its holder needs one to keep it.
  await holdLock(
    locks,
    schemaLease,
    () => withClient(connections, (client) => prepareAll(client, missing, statementTimeout)),
    { wait: lockTimeout },
  );
}

async function withClient<R>(
  connections: Connections,
  work: (client: PoolClient) => Promise<R>,
): Promise<R> {
  const client = await connections.acquire();
  let failure: unknown;
  try {
    return await work(client);
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    connections.release(client, failure);
  }
}

async function underAdvisoryLock(
  client: PoolClient,
  work: (client: PoolClient) => Promise<void>,
): Promise<void> {
  // Waiting inside a statement would hold up the very build that the lock is waited for.
  while (!(await tryLock(client, "pg_try_advisory_lock"))) await wait(lockPoll);
  try {
    await work(client);
  } finally {
    await execute(client, `SELECT pg_advisory_unlock(${schemaLock})`);
  }
}

/**
 * Works on one connection while another one holds the same lock in a transaction: behind a pooler nothing else lasts, and
 * an index that is built while its table is in use is built outside of transactions.
 */
async function besideLock(
  connections: Connections,
  work: (client: PoolClient) => Promise<void>,
): Promise<void> {
  const attempt = (holder: PoolClient): Promise<boolean> => workIfLocked(connections, holder, work);
  // No connection is held while the lock is waited for: its holder needs a second one.
  while (!(await withClient(connections, attempt))) await wait(lockPoll);
}

async function workIfLocked(
  connections: Connections,
  holder: PoolClient,
  work: (client: PoolClient) => Promise<void>,
): Promise<boolean> {
  await execute(holder, "BEGIN");
  try {
    if (!(await tryLock(holder, "pg_try_advisory_xact_lock"))) return false;
    await withClient(connections, work);
    return true;
  } finally {
    await execute(holder, "ROLLBACK");
  }
}

/** `statementTimeout` is set again afterwards; undefined where a setting would not last. */
async function prepareAll(
  client: PoolClient,
  layouts: readonly PostgresLayout[],
  statementTimeout: number | undefined,
): Promise<void> {
  // Building an index takes as long as it takes.
  if (statementTimeout !== undefined) await execute(client, "SET statement_timeout = 0");
  try {
    for (const layout of layouts) await prepareTable(client, layout);
  } finally {
    if (statementTimeout !== undefined) {
      await execute(client, `SET statement_timeout = ${statementTimeout}`);
    }
  }
}

/** Looks for the table that is created last, and for the column that came last. */
async function hasOwnTables(client: PoolClient): Promise<boolean> {
  const { rows } = await run(client, {
    text:
      "SELECT to_regclass($1)::text FROM pg_attribute " +
      "WHERE attrelid = to_regclass($2) AND attname = 'removed'",
    values: [locksTable, registryTable],
  });
  return typeof rows[0]?.[0] === "string";
}

async function tryLock(
  client: PoolClient,
  how: "pg_try_advisory_lock" | "pg_try_advisory_xact_lock",
): Promise<boolean> {
  const { rows } = await run(client, {
    text: `SELECT ${how}(${schemaLock})::text`,
    values: [],
  });
  return rows[0]?.[0] === "true";
}

async function isReady(client: PoolClient, layout: PostgresLayout): Promise<boolean> {
  const registered = await readRegistry(client, layout).catch((error: unknown) => {
    const state = sqlState(error);
    if (state === tableMissing || state === columnMissing) return undefined;
    throw error;
  });
  if (registered === undefined || !isCurrent(registered, layout)) return false;
  if (registered.removed !== wantedRemoved(layout) || !registered.hasRemovedVersions) return false;
  if (!(await areClaimsReady(client, layout))) return false;
  if (!(await hasStatistics(client, layout))) return false;
  if (!(await hasTotal(client, layout))) return false;
  const valid = await readIndexes(client, layout);
  return layout.indexes.every(({ name }) => valid.get(name) === true);
}

async function prepareTable(client: PoolClient, layout: PostgresLayout): Promise<void> {
  const registered = await readRegistry(client, layout);
  if (registered === undefined) await createTable(client, layout);
  else {
    await settleRemoved(client, layout, registered.removed);
    await execute(client, createRemovedVersions(layout.definition.name));
  }
  if (registered !== undefined && layout.geoPaths.length > 0) await addPlaces(client, layout);
  const known = await readIndexes(client, layout);
  let isBuilt = false;
  for (const index of layout.indexes) {
    const isValid = known.get(index.name);
    // A build that did not end leaves an index that nothing uses.
    if (isValid === false) await execute(client, `DROP INDEX ${quoteName(index.name)}`);
    if (isValid !== true) await buildIndex(client, layout, index);
    isBuilt ||= isValid !== true;
  }
  if (await createStatistics(client, layout)) isBuilt = true;
  await prepareClaims(client, layout);
  await createTotal(client, layout);
  const isDerived = await prepareDerived(client, layout, registered);
  // What the indexes of a table with documents hold, the server knows only when it has looked.
  const isLookedAt = registered === undefined || !(isBuilt || isDerived);
  if (!isLookedAt) await execute(client, analyzeSql(layout.quoted));
}

async function createTable(client: PoolClient, layout: PostgresLayout): Promise<void> {
  const { name } = layout.definition;
  const twin = await run(client, {
    text: `SELECT name FROM ${registryTable} WHERE lower(name) = lower($1)`,
    values: [name],
  });
  if (twin.rows[0] !== undefined) {
    throw new DocumentsError(
      "ERR_DOCUMENTS_OPEN",
      `The collection "${name}" differs only in case from "${twin.rows[0][0]}", which exists`,
    );
  }
  await execute(client, "BEGIN");
  try {
    await execute(
      client,
      `CREATE TABLE ${layout.quoted} (id text COLLATE "C" NOT NULL, version bigint NOT NULL, ` +
        'created_at text COLLATE "C" NOT NULL, updated_at text COLLATE "C" NOT NULL, ' +
        'doc jsonb NOT NULL, search text COLLATE "C", deleted_at text COLLATE "C", ' +
        "expires_at bigint, lease_token text, lease_until bigint, " +
        "lease_attempt integer NOT NULL DEFAULT 0, geo float8[], " +
        `CONSTRAINT ${quoteName(layout.idConstraint)} PRIMARY KEY (id))`,
    );
    for (const index of layout.indexes) await createIndex(client, layout, { index, how: "" });
    await execute(client, createRemovedVersions(name));
    await run(client, {
      text: `INSERT INTO ${registryTable} (name, removed) VALUES ($1, $2)`,
      values: [name, wantedRemoved(layout)],
    });
    await execute(client, "COMMIT");
  } catch (error) {
    await execute(client, "ROLLBACK").catch(() => undefined);
    if (sqlState(error) !== tableExists) throw error;
    throw new DocumentsError(
      "ERR_DOCUMENTS_OPEN",
      `The database has a table "${name}" of another program`,
    );
  }
}

/** Adds the column that tables of earlier versions lack; looked for first, because it needs a lock. */
async function addPlaces(client: PoolClient, layout: PostgresLayout): Promise<void> {
  const { count } = await run(client, {
    text: "SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = 'geo'",
    values: [layout.quoted],
  });
  if (count === 0) await execute(client, `ALTER TABLE ${layout.quoted} ADD COLUMN geo float8[]`);
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
 * Creates an index. What it is of stands in one row of the catalogue, which has 8 KB: of many nested
 * fields it gets those that fit, which finds and sorts the same, if not all of it by the index.
 */
async function createIndex(
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
  return new DocumentsTypeError(
    "ERR_DOCUMENTS_DEFINITION",
    `The index of "${name}" over ${fields.join(", ")} is larger than PostgreSQL can note, expected ` +
      "up to six fields, or fewer that are nested",
    { cause },
  );
}

function indexSql(layout: PostgresLayout, index: PostgresIndex, how: "" | "CONCURRENTLY "): string {
  const unique = index.isUnique ? "UNIQUE " : "";
  return (
    `CREATE ${unique}INDEX ${how}${quoteName(index.name)} ` +
    `ON ${layout.quoted} (${index.columns}) WHERE deleted_at IS NULL`
  );
}

/** Reads which indexes a table has, and whether they are complete. */
function readIndexes(
  client: PoolClient,
  layout: PostgresLayout,
): Promise<ReadonlyMap<string, boolean>> {
  return runOperation(sessionOn(client), layout.builtIndexes());
}
