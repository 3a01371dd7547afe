import type { PoolClient } from "pg";
import { DocumentsError } from "../../../api/errors.ts";
import { holdLock, type LockTable } from "../../../leases/hold-lock.ts";
import { quoteName } from "../../dialect.ts";
import { locksTable, registryTable } from "../../own-tables.ts";
import { type Connections, execute, run } from "../connections/connections.ts";
import { sqlState } from "../connections/postgres-error.ts";
import { createOnce } from "../distributed/distribution.ts";
import { areClaimsReady, prepareClaims } from "../distributed/preparing-claims.ts";
import { areTablesSpread, spreadTables } from "../distributed/spreading.ts";
import type { PostgresLayout } from "../statements/layout.ts";
import { createOwnTables } from "../statements/own-tables.ts";
import { isCurrent, prepareDerived, readRegistry } from "./derived-columns.ts";
import {
  areGenerationsReady,
  readGenerations,
  registerFirst,
  registerGeneration,
} from "./generations.ts";
import { buildSearch } from "./build-search.ts";
import { buildLeftIndexes, createIndex, prepareIndexes, readIndexes } from "./indexes.ts";
import { createStatistics, hasStatistics } from "./statistics.ts";
import { settleRemoved, wantedRemoved } from "./kept-removed.ts";
import { countTotal, createTotal, hasTotal } from "./kept-total.ts";
import { analyzeSql } from "./upkeep.ts";

/** Maximum number of documents for which everything is built at once. */
const fewDocuments = 1000;
/** The lock of changes to the schema, and for how long it is waited for, in milliseconds. */
const schemaLock = "fetchwork:schema";
const lockWait = 3_600_000;
/** Time after which another process goes on where one ended without a word, in milliseconds. */
const lockExpiry = 10_000;
const tableExists = "42P07";
const tableMissing = "42P01";
const columnMissing = "42703";

/**
 * Brings tables and indexes up to their definitions, and returns the layouts of which something is
 * left to build.
 *
 * Existing parts are only looked at. Everything else happens under a lock, so that processes that
 * start together do it once. For a table with many documents, search texts and indexes that are not
 * unique are left to {@link buildLeft}. That builds them while the table is in use.
 */
export async function prepareTables(
  connections: Connections,
  layouts: readonly PostgresLayout[],
  { isDistributed, locks }: { readonly isDistributed: boolean; readonly locks: LockTable },
): Promise<readonly PostgresLayout[]> {
  const missing = await withClient(connections, async (client) => {
    const found: PostgresLayout[] = [];
    for (const layout of layouts) if (!(await isReady(client, layout))) found.push(layout);
    return found.length > 0 || !(await hasOwnTables(client)) ? found : undefined;
  });
  if (missing === undefined) return [];
  for (const text of createOwnTables(isDistributed)) await createOnce(connections, text);
  const prepare = async (client: PoolClient): Promise<readonly PostgresLayout[]> => {
    const left: PostgresLayout[] = [];
    for (const layout of missing) if (await prepareTable(client, layout)) left.push(layout);
    return left;
  };
  // No connection is held while the lock is waited for: its holder needs one to keep it.
  const times = { wait: lockWait, expiry: lockExpiry };
  return holdLock(locks, schemaLock, () => withPatientClient(connections, prepare), times);
}

/** Runs work on a connection. */
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

/** Runs work on a connection whose statements have no time limit. */
export function withPatientClient<R>(
  connections: Connections,
  work: (client: PoolClient) => Promise<R>,
): Promise<R> {
  // Behind a pooler no setting lasts, and there is no limit outside of transactions.
  if (connections.isPooled) return withClient(connections, work);
  return withClient(connections, async (client) => {
    await execute(client, "SET statement_timeout = 0");
    try {
      return await work(client);
    } finally {
      await execute(client, `SET statement_timeout = ${connections.statementTimeout}`);
    }
  });
}

/** Looks for the table that is created last. */
async function hasOwnTables(client: PoolClient): Promise<boolean> {
  const { rows } = await run(client, {
    text: "SELECT to_regclass($1)::text",
    values: [locksTable],
  });
  return typeof rows[0]?.[0] === "string";
}

async function isReady(client: PoolClient, layout: PostgresLayout): Promise<boolean> {
  try {
    return await isPrepared(client, layout);
  } catch (error) {
    const state = sqlState(error);
    if (state === tableMissing || state === columnMissing) return false;
    throw error;
  }
}

async function isPrepared(client: PoolClient, layout: PostgresLayout): Promise<boolean> {
  const registered = await readRegistry(client, layout);
  if (registered === undefined || !isCurrent(registered, layout)) return false;
  if (registered.removed !== wantedRemoved(layout)) return false;
  if (!(await areTablesSpread(client, layout))) return false;
  if (!(await areClaimsReady(client, layout))) return false;
  if (!(await areGenerationsReady(client, layout))) return false;
  if (!(await hasStatistics(client, layout))) return false;
  if (!(await hasTotal(client, layout))) return false;
  const valid = await readIndexes(client, layout);
  return layout.indexes.every(({ name }) => valid.get(name) === true);
}

/** Brings a table up to its definition; returns whether something is left to {@link buildLeft}. */
async function prepareTable(client: PoolClient, layout: PostgresLayout): Promise<boolean> {
  const registered = await readRegistry(client, layout);
  if (registered === undefined) await createTable(client, layout);
  else await settleRemoved(client, layout, registered.removed);
  await spreadTables(client, layout);
  const isLarge = registered !== undefined && (await hasManyDocuments(client, layout));
  const { isBuilt, isLeft } = await prepareIndexes(client, layout, { isLarge });
  const hasNewStatistics = await createStatistics(client, layout);
  await prepareClaims(client, layout);
  const isUncounted = await createTotal(client, layout);
  if (isUncounted && !isLarge) await countTotal(client, layout);
  if (registered !== undefined) await registerGeneration(client, layout);
  const isDerived = await prepareDerived(client, layout, registered);
  const isUnsearched = layout.search.own?.isBuilt === false;
  if (isUnsearched && !isLarge) {
    const how = registered === undefined ? "" : "CONCURRENTLY ";
    await buildSearch(client, layout, { how });
  }
  // The server knows the content of the indexes of a filled table only when it has looked.
  const isNews = hasNewStatistics || isBuilt || isDerived || isUnsearched;
  const isLookedAt = registered === undefined || !isNews;
  if (!isLookedAt && !isLarge) await execute(client, analyzeSql(layout.quoted));
  return isLarge && (isLeft || isNews || isUncounted);
}

/** Builds what {@link prepareTables} left. */
export async function buildLeft(
  client: PoolClient,
  layout: PostgresLayout,
  signal: AbortSignal,
): Promise<void> {
  if (!(await hasTotal(client, layout))) await countTotal(client, layout);
  await buildLeftIndexes(client, layout, signal);
  await readGenerations(client, layout);
  if (layout.search.own?.isBuilt === false) {
    await buildSearch(client, layout, { how: "CONCURRENTLY ", signal });
  }
  await execute(client, analyzeSql(layout.quoted));
}

async function hasManyDocuments(client: PoolClient, { quoted }: PostgresLayout): Promise<boolean> {
  const { count } = await run(client, {
    text: `SELECT 1 FROM ${quoted} LIMIT ${fewDocuments + 1}`,
    values: [],
  });
  return count > fewDocuments;
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
      `the collection "${name}" differs only in case from "${twin.rows[0][0]}", which exists`,
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
        `lease_attempt integer NOT NULL DEFAULT 0, geo float8[], ` +
        `CONSTRAINT ${quoteName(layout.idConstraint)} PRIMARY KEY (id))`,
    );
    for (const index of layout.indexes) await createIndex(client, layout, { index, how: "" });
    await run(client, {
      text: `INSERT INTO ${registryTable} (name, removed) VALUES ($1, $2)`,
      values: [name, wantedRemoved(layout)],
    });
    await registerFirst(client, layout);
    await execute(client, "COMMIT");
    await readGenerations(client, layout);
  } catch (error) {
    await execute(client, "ROLLBACK").catch(() => undefined);
    if (sqlState(error) !== tableExists) throw error;
    throw new DocumentsError(
      "ERR_DOCUMENTS_OPEN",
      `the database has a table "${name}" of another program`,
    );
  }
}
