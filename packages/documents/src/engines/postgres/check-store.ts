import type { PoolClient } from "pg";
import { toStored } from "../../document/stored.ts";
import { quoteName } from "../dialect.ts";
import type { Row } from "../operation.ts";
import { changesTable, generationsTable, positionsTable, registryTable } from "../own-tables.ts";
import { execute, run } from "./connections/connections.ts";
import { sqlState } from "./connections/postgres-error.ts";
import { claimedFields, claimsOf } from "./distributed/claims.ts";
import { readClaimed } from "./distributed/preparing-claims.ts";
import { documentColumns } from "./statements/columns.ts";
import { quoteText } from "./statements/keys.ts";
import { searchNames } from "./statements/search-texts.ts";
import { claimsTable, feedEndTable } from "./statements/own-tables.ts";
import { totalsTable, wrongTotal } from "./statements/totals-table.ts";

const maxProblems = 100;
const chunkSize = 500;
const notAllowed = "42501";
/** The store's tables and those of its collections, by their oid. */
const tables =
  `SELECT to_regclass(quote_ident(name)) AS oid FROM ${registryTable} UNION ALL ` +
  "SELECT oid FROM pg_class WHERE relkind = 'r' AND relname LIKE 'fetchwork:%' AND pg_table_is_visible(oid)";

/**
 * Reads everything in a transaction that keeps to one moment, and tells what is damaged: documents,
 * claims, positions, and indexes. Contents of indexes are compared where the extension `amcheck` is
 * there and a superuser lets the role call it.
 */
export async function checkStore(
  client: PoolClient,
  { isDistributed }: { readonly isDistributed: boolean },
): Promise<readonly string[]> {
  await execute(client, "SET LOCAL statement_timeout = 0");
  const problems: string[] = [];
  const { rows } = await run(client, {
    text:
      "SELECT name, to_regclass(quote_ident(name)), (SELECT json_agg(suffix) " +
      `FROM ${generationsTable} WHERE collection = name) FROM ${registryTable} ORDER BY name`,
    values: [],
  });
  for (const [name, oid, suffixes] of rows) {
    const searches = listIn(String(suffixes ?? "[]")).map(String);
    if (oid === null) problems.push(`the table of "${name}" is missing`);
    else problems.push(...(await checkCollection(client, String(name), searches)));
    if (oid !== null && isDistributed) problems.push(...(await checkClaims(client, String(name))));
  }
  problems.push(...(await checkFeed(client, isDistributed)));
  problems.push(...(await checkIndexes(client, isDistributed)));
  return problems;
}

async function checkCollection(
  client: PoolClient,
  name: string,
  suffixes: readonly string[],
): Promise<readonly string[]> {
  const table = quoteName(name);
  const damaged = await all(
    client,
    `SELECT id FROM ${table} WHERE jsonb_typeof(doc) <> 'object' OR version < 1 ` +
      `OR jsonb_exists_any(doc, '{id,version,createdAt,updatedAt}') LIMIT ${maxProblems}`,
  );
  const problems = damaged.map(
    ([id]) => `the document ${JSON.stringify(id)} of "${name}" is damaged`,
  );
  for (const suffix of suffixes) {
    const { text, of } = searchNames(name, suffix);
    // The text of an earlier version of a document is derived again by the programs that search it.
    const current = of === undefined ? "" : ` AND ${of} = version`;
    const where = `${text} IS NULL${current}`;
    const [unsearched] = await all(client, `SELECT count(*) FROM ${table} WHERE ${where}`);
    if (unsearched?.[0] === "0") continue;
    problems.push(`the search of "${name}" lacks ${unsearched?.[0]} documents`);
  }
  problems.push(...(await checkTotal(client, name)));
  const newer = await all(
    client,
    `SELECT id FROM ${table} AS stored JOIN (SELECT id, max(version) AS version FROM (${sinceRemoval(name)}) AS seen ` +
      "WHERE position > coalesce(removed, 0) GROUP BY id) AS recorded USING (id) " +
      `WHERE recorded.version > stored.version LIMIT ${maxProblems}`,
  );
  for (const [id] of newer) {
    problems.push(`the feed has a later version of ${JSON.stringify(id)} of "${name}"`);
  }
  return problems;
}

/** Compares the total that is kept with the number of documents. */
async function checkTotal(client: PoolClient, name: string): Promise<readonly string[]> {
  const [table] = await all(client, `SELECT to_regclass(${quoteText(totalsTable)})`);
  if (table?.[0] === null) return [];
  const [wrong] = await all(client, wrongTotal(name));
  if (wrong === undefined) return [];
  const [kept, documents] = wrong;
  return [
    `the total kept of "${name}" must be ${documents}, got ${kept}: delete its rows in ${totalsTable} ` +
      "and open the store again",
  ];
}

/** Reads records of a collection, with the position of each document's last removal. */
function sinceRemoval(name: string): string {
  return (
    "SELECT id, version, position, max(position) FILTER (WHERE kind IN ('purge', 'remove')) " +
    `OVER (PARTITION BY id) AS removed FROM ${changesTable} WHERE collection = ${quoteText(name)}`
  );
}

/** Compares the claims of a distributed store with those that its documents have. */
async function checkClaims(client: PoolClient, name: string): Promise<readonly string[]> {
  const table = quoteName(name);
  const keys = await readClaimed(client, name);
  const claimed = keys.map((key) => claimedFields(listIn(key).map(String)));
  const problems: string[] = [];
  for (const id of await readOrphans(client, name)) {
    problems.push(
      `unique values of "${name}" are held for ${JSON.stringify(id)}, which does not exist`,
    );
  }
  for (let last = ""; keys.length > 0 && problems.length < maxProblems;) {
    const { rows } = await run(client, {
      text:
        `SELECT ${documentColumns} FROM ${table} WHERE id > $1 AND deleted_at IS NULL ` +
        `ORDER BY id LIMIT ${chunkSize}`,
      values: [last],
    });
    const ids = rows.map(([id = null]) => id);
    const { rows: held } = await run(client, {
      text: `SELECT id, field, value FROM ${claimsTable} WHERE collection = $1 AND id = ANY($2::text[])`,
      values: [name, ids],
    });
    const wanted = rows.flatMap((row) => claimsOf({ claimed }, toStored<object>(name, row)));
    const expected = wanted.map(({ id, key, value }) => JSON.stringify([id, key, value]));
    const actual = held.map((row) => JSON.stringify(row));
    for (const id of differing(new Set(expected), new Set(actual))) {
      problems.push(`the unique values of ${JSON.stringify(id)} of "${name}" are not those held`);
    }
    if (rows.length < chunkSize) break;
    last = String(ids.at(-1));
  }
  return problems;
}

/** Reads ids of claims without documents. No statement joins tables spread differently. */
async function readOrphans(client: PoolClient, name: string): Promise<readonly unknown[]> {
  const orphans: unknown[] = [];
  for (let last = ""; orphans.length < maxProblems;) {
    const { rows } = await run(client, {
      text:
        `SELECT DISTINCT id FROM ${claimsTable} WHERE collection = $1 AND id > $2 ` +
        `ORDER BY id LIMIT ${chunkSize}`,
      values: [name, last],
    });
    const ids = rows.map(([id = null]) => id);
    const { rows: found } = await run(client, {
      text: `SELECT id FROM ${quoteName(name)} WHERE id = ANY($1::text[]) AND deleted_at IS NULL`,
      values: [ids],
    });
    const existing = new Set(found.map(([id = null]) => id));
    orphans.push(...ids.filter((id) => !existing.has(id)));
    if (rows.length < chunkSize) break;
    last = String(ids.at(-1));
  }
  return orphans;
}

/** Returns the ids of what is in one of the sets only. */
function differing(some: ReadonlySet<string>, others: ReadonlySet<string>): ReadonlySet<unknown> {
  const lonely = [
    ...[...some].filter((text) => !others.has(text)),
    ...[...others].filter((text) => !some.has(text)),
  ];
  return new Set(lonely.map((text) => listIn(text)[0]));
}

function listIn(text: string): readonly unknown[] {
  const value: unknown = JSON.parse(text);
  return Array.isArray(value) ? value : [];
}

/** The next position must be behind every one that was told or taken note of. */
async function checkFeed(client: PoolClient, isDistributed: boolean): Promise<readonly string[]> {
  const end = isDistributed
    ? `(SELECT max(position) FROM ${feedEndTable})`
    : `pg_sequence_last_value(pg_get_serial_sequence(${quoteText(changesTable)}, 'position')::regclass)`;
  const [row] = await all(
    client,
    `SELECT coalesce(${end}, 0) < coalesce((SELECT max(position) FROM ${changesTable}), 0), ` +
      `coalesce(${end}, 0) < coalesce((SELECT max(position) FROM ${positionsTable}), 0)`,
  );
  return [
    ...(row?.[0] === "t" ? ["the feed would use positions again that it has"] : []),
    ...(row?.[1] === "t" ? ["a consumer of the feed is ahead of it"] : []),
  ];
}

async function checkIndexes(
  client: PoolClient,
  isDistributed: boolean,
): Promise<readonly string[]> {
  // Systems that are only like PostgreSQL keep their indexes in other ways.
  if (isDistributed) return [];
  const indexes = await all(
    client,
    "SELECT c.oid::text, c.relname, i.indisvalid AND i.indisready, a.amname FROM pg_index i " +
      "JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam " +
      `WHERE i.indrelid IN (${tables}) ORDER BY c.relname`,
  );
  const extensions = await all(client, "SELECT 1 FROM pg_extension WHERE extname = 'amcheck'");
  let isAllowed = extensions.length > 0;
  const problems: string[] = [];
  for (const [oid, name, isValid, method] of indexes) {
    if (isValid !== "t") {
      problems.push(`the index "${name}" is not finished; opening the store builds it again`);
    } else if (isAllowed && method === "btree") {
      const outcome = await verify(client, String(oid));
      isAllowed = outcome !== "not allowed";
      if (outcome === "damaged") problems.push(`the index "${name}" is damaged: REINDEX builds it`);
    }
  }
  return problems;
}

/** Compares an index with its layout. */
async function verify(
  client: PoolClient,
  oid: string,
): Promise<"damaged" | "not allowed" | "sound"> {
  await execute(client, "SAVEPOINT verifying");
  try {
    await run(client, { text: "SELECT bt_index_check($1::oid::regclass, true)", values: [oid] });
    await execute(client, "RELEASE verifying");
    return "sound";
  } catch (error) {
    const state = sqlState(error);
    if (state === undefined) throw error;
    await execute(client, "ROLLBACK TO verifying");
    if (state === notAllowed) return "not allowed";
    // Codes of amcheck: an index, or data, is corrupted.
    if (state.startsWith("XX")) return "damaged";
    throw error;
  }
}

async function all(client: PoolClient, text: string): Promise<readonly Row[]> {
  return (await run(client, { text, values: [] })).rows;
}
