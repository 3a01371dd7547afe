import { setTimeout as wait } from "node:timers/promises";
import { type PoolClient } from "pg";
import { DocumentsError, DocumentsTypeError } from "../../api/errors.ts";
import { holdLock, type LockTable } from "../../leases/hold-lock.ts";
import { analyzeSql } from "./analyzing.ts";
import { type Connections, execute, run } from "./connections.ts";
import { isCurrent, prepareDerived, readRegistry } from "./derived-columns.ts";
import { createOnce } from "./distribution.ts";
import { settleRemoved, wantedRemoved } from "./kept-removed.ts";
import { createOwnTables, LOCKS, REGISTRY } from "./own-tables.ts";
import { sqlState } from "./postgres-error.ts";
import { areClaimsReady, prepareClaims } from "./preparing-claims.ts";
import { quoteName } from "./sql.ts";
import type { Index, Table } from "./table.ts";

/** The advisory lock of changes to the schema: "FWDR". */
const SCHEMA_LOCK = 0x46574452;

const LOCK_POLL = 50;
/** The lock of changes to the schema of a distributed store, and for how long it is waited for. */
const SCHEMA_LEASE = "fetchwork:schema";
const LOCK_PATIENCE = 3_600_000;
const TABLE_EXISTS = "42P07";
const TABLE_MISSING = "42P01";
const COLUMN_MISSING = "42703";
/** A row of the catalogue is too big; an index has too many columns. */
const TOO_BIG: ReadonlySet<string | undefined> = new Set(["54000", "54011"]);

/**
 * Brings tables and indexes up to their definitions.
 *
 * What is there already is only looked at. Everything else happens under a lock, so that processes
 * that start together do it once; indexes of a table with documents are built while it is in use.
 */
export async function prepareTables(
  connections: Connections,
  tables: readonly Table[],
  { isDistributed, locks }: { readonly isDistributed: boolean; readonly locks: LockTable },
): Promise<void> {
  const missing = await withClient(connections, async (client) => {
    const found: Table[] = [];
    for (const table of tables) if (!(await isReady(client, table))) found.push(table);
    return found.length > 0 || !(await hasOwnTables(client)) ? found : undefined;
  });
  if (missing === undefined) return;
  if (!isDistributed) {
    await withClient(connections, (client) => underAdvisoryLock(client, missing));
    return;
  }
  for (const text of createOwnTables(true)) await createOnce(connections, text);
  // No connection is held while the lock is waited for: its holder needs one to keep it.
  await holdLock(
    locks,
    SCHEMA_LEASE,
    () => withClient(connections, (client) => prepareAll(client, missing)),
    { wait: LOCK_PATIENCE },
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

async function underAdvisoryLock(client: PoolClient, tables: readonly Table[]): Promise<void> {
  // Waiting inside a statement would hold up the very build that the lock is waited for.
  while (!(await tryLock(client))) await wait(LOCK_POLL);
  try {
    for (const text of createOwnTables(false)) await execute(client, text);
    await prepareAll(client, tables);
  } finally {
    await execute(client, `SELECT pg_advisory_unlock(${SCHEMA_LOCK})`);
  }
}

async function prepareAll(client: PoolClient, tables: readonly Table[]): Promise<void> {
  // Building an index takes as long as it takes.
  await execute(client, "SET statement_timeout = 0");
  try {
    for (const table of tables) await prepareTable(client, table);
  } finally {
    await execute(client, "RESET statement_timeout");
  }
}

/** Looks for the table that is created last, and for the column that came last. */
async function hasOwnTables(client: PoolClient): Promise<boolean> {
  const { rows } = await run(client, {
    text:
      "SELECT to_regclass($1)::text FROM pg_attribute " +
      "WHERE attrelid = to_regclass($2) AND attname = 'removed'",
    values: [LOCKS, REGISTRY],
  });
  return typeof rows[0]?.[0] === "string";
}

async function tryLock(client: PoolClient): Promise<boolean> {
  const { rows } = await run(client, {
    text: `SELECT pg_try_advisory_lock(${SCHEMA_LOCK})::text`,
    values: [],
  });
  return rows[0]?.[0] === "true";
}

async function isReady(client: PoolClient, table: Table): Promise<boolean> {
  const registered = await readRegistry(client, table).catch((error: unknown) => {
    const state = sqlState(error);
    if (state === TABLE_MISSING || state === COLUMN_MISSING) return undefined;
    throw error;
  });
  if (registered === undefined || !isCurrent(registered, table)) return false;
  if (registered.removed !== wantedRemoved(table)) return false;
  if (!(await areClaimsReady(client, table))) return false;
  const valid = await readIndexes(client, table);
  return table.indexes.every(({ name }) => valid.get(name) === true);
}

async function prepareTable(client: PoolClient, table: Table): Promise<void> {
  const registered = await readRegistry(client, table);
  if (registered === undefined) await createTable(client, table);
  else await settleRemoved(client, table, registered.removed);
  if (registered !== undefined && table.geoPaths.length > 0) await addPlaces(client, table);
  const known = await readIndexes(client, table);
  let isBuilt = false;
  for (const index of table.indexes) {
    const isValid = known.get(index.name);
    // A build that did not end leaves an index that nothing uses.
    if (isValid === false) await execute(client, `DROP INDEX ${quoteName(index.name)}`);
    if (isValid !== true) await buildIndex(client, table, index);
    isBuilt ||= isValid !== true;
  }
  await prepareClaims(client, table);
  const isDerived = await prepareDerived(client, table, registered);
  // What the indexes of a table with documents hold, the server knows only when it has looked.
  const isLookedAt = registered === undefined || !(isBuilt || isDerived);
  if (!isLookedAt) await execute(client, analyzeSql(table));
}

async function createTable(client: PoolClient, table: Table): Promise<void> {
  const { name } = table.definition;
  const twin = await run(client, {
    text: `SELECT name FROM ${REGISTRY} WHERE lower(name) = lower($1)`,
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
      `CREATE TABLE ${table.quoted} (id text COLLATE "C" NOT NULL, version bigint NOT NULL, ` +
        'created_at text COLLATE "C" NOT NULL, updated_at text COLLATE "C" NOT NULL, ' +
        'doc jsonb NOT NULL, search text COLLATE "C", deleted_at text COLLATE "C", ' +
        "expires_at bigint, lease_token text, lease_until bigint, " +
        "lease_attempt integer NOT NULL DEFAULT 0, geo float8[], " +
        `CONSTRAINT ${quoteName(table.idConstraint)} PRIMARY KEY (id))`,
    );
    for (const index of table.indexes) await createIndex(client, table, { index, how: "" });
    await run(client, {
      text: `INSERT INTO ${REGISTRY} (name, removed) VALUES ($1, $2)`,
      values: [name, wantedRemoved(table)],
    });
    await execute(client, "COMMIT");
  } catch (error) {
    await execute(client, "ROLLBACK").catch(() => undefined);
    if (sqlState(error) !== TABLE_EXISTS) throw error;
    throw new DocumentsError(
      "ERR_DOCUMENTS_OPEN",
      `The database has a table "${name}" of another program`,
    );
  }
}

/** Adds the column that tables of earlier versions lack; looked for first, because it needs a lock. */
async function addPlaces(client: PoolClient, table: Table): Promise<void> {
  const { count } = await run(client, {
    text: "SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = 'geo'",
    values: [table.quoted],
  });
  if (count === 0) await execute(client, `ALTER TABLE ${table.quoted} ADD COLUMN geo float8[]`);
}

async function buildIndex(client: PoolClient, table: Table, index: Index): Promise<void> {
  try {
    await createIndex(client, table, { index, how: "CONCURRENTLY " });
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
  table: Table,
  { index, how }: { readonly index: Index; readonly how: "" | "CONCURRENTLY " },
): Promise<void> {
  const { columns, shorter = [] } = index;
  const begin = how === "" ? "SAVEPOINT before_index" : "";
  for (const [attempt, each] of [columns, ...shorter].entries()) {
    try {
      if (begin !== "") await execute(client, begin);
      await execute(client, indexSql(table, { ...index, columns: each }, how));
      return;
    } catch (error) {
      if (!TOO_BIG.has(sqlState(error))) throw error;
      if (attempt === shorter.length) throw tooBig(table, index, error);
      if (begin !== "") await execute(client, "ROLLBACK TO SAVEPOINT before_index");
    }
  }
}

/** A unique index of fewer fields would refuse more than the definition does. */
function tooBig({ definition: { name } }: Table, { fields }: Index, cause: unknown): Error {
  return new DocumentsTypeError(
    "ERR_DOCUMENTS_DEFINITION",
    `The index of "${name}" over ${fields.join(", ")} is larger than PostgreSQL can note, expected ` +
      "up to six fields, or fewer that are nested",
    { cause },
  );
}

function indexSql(table: Table, index: Index, how: "" | "CONCURRENTLY "): string {
  const unique = index.isUnique ? "UNIQUE " : "";
  return (
    `CREATE ${unique}INDEX ${how}${quoteName(index.name)} ` +
    `ON ${table.quoted} (${index.columns}) WHERE deleted_at IS NULL`
  );
}

/** Tells which indexes a table has, and whether they are finished. */
export async function readIndexes(
  client: PoolClient,
  table: Table,
): Promise<ReadonlyMap<string, boolean>> {
  const { rows } = await run(client, {
    text:
      "SELECT c.relname, i.indisvalid::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid " +
      "WHERE i.indrelid = to_regclass($1)",
    values: [table.quoted],
  });
  return new Map(rows.map(([name, valid]) => [name ?? "", valid === "true"]));
}
