import type { PoolClient } from "pg";
import { execute, run } from "./connections.ts";
import { geoColumn } from "./geo-column.ts";
import { REGISTRY } from "./own-tables.ts";
import { sqlState } from "./postgres-error.ts";
import { DOCUMENT_COLUMNS, expiryColumn, searchColumn, toStored } from "./row.ts";
import { quoteName } from "./sql.ts";
import type { Table } from "./table.ts";

/** Raised when `fold` changes, so that search texts are made again. */
const FOLD_VERSION = 1;
const REBUILD_CHUNK = 500;

/** What the columns hold that this program derives from documents. */
export interface Derived {
  readonly search: string | null;
  readonly expires: string | null;
  readonly geo: string | null;
}

/** What the registry says of a collection. */
export interface Registered extends Derived {
  /** Whether removed documents are kept; null where nobody has looked yet. */
  readonly removed: string | null;
}

/** Reads what the registry says of a collection; `undefined` for one that does not exist. */
export async function readRegistry(
  client: PoolClient,
  table: Table,
): Promise<Registered | undefined> {
  const { rows } = await run(client, {
    text: `SELECT search, expires, geo, removed FROM ${REGISTRY} WHERE name = $1`,
    values: [table.definition.name],
  });
  const [row] = rows;
  const [search = null, expires = null, geo = null, removed = null] = row ?? [];
  return row === undefined ? undefined : { search, expires, geo, removed };
}

/** Gives what the registry says of a collection that is up to its definition. */
export function wantedDerived({ definition: { search, expires, geo = [] } }: Table): Derived {
  return {
    search: search.length === 0 ? null : JSON.stringify({ fold: FOLD_VERSION, fields: search }),
    expires: expires === undefined ? null : JSON.stringify([expires.field, expires.after ?? 0]),
    geo: geo.length === 0 ? null : JSON.stringify(geo),
  };
}

export function isCurrent(registered: Derived, table: Table): boolean {
  const wanted = wantedDerived(table);
  return (
    registered.search === wanted.search &&
    registered.expires === wanted.expires &&
    registered.geo === wanted.geo
  );
}

/**
 * Derives the search texts, times of expiry and places again when the definition asks for others. While it
 * asks for none they fall behind, which the registry remembers. Tells whether it did anything.
 */
export async function prepareDerived(
  client: PoolClient,
  table: Table,
  registered: Derived | undefined,
): Promise<boolean> {
  if (registered !== undefined && isCurrent(registered, table)) return false;
  const wanted = wantedDerived(table);
  if (registered !== undefined) await fillDerived(client, table);
  // Nobody uses a new table yet. Beside others an index waits for every transaction, and so for the one whose first
  // use of the collection this may be.
  const how = registered === undefined ? "" : "CONCURRENTLY ";
  if (wanted.search !== null) await buildSearchIndex(client, table, how);
  else if (registered !== undefined) {
    await execute(client, `DROP INDEX CONCURRENTLY IF EXISTS ${quoteName(table.searchIndex)}`);
  }
  await run(client, {
    text: `UPDATE ${REGISTRY} SET search = $2, expires = $3, geo = $4 WHERE name = $1`,
    values: [table.definition.name, wanted.search, wanted.expires, wanted.geo],
  });
  return true;
}

/** Where `pg_trgm` is not there or not allowed, searching reads every text. */
async function buildSearchIndex(
  client: PoolClient,
  table: Table,
  how: "" | "CONCURRENTLY ",
): Promise<void> {
  try {
    await execute(client, "CREATE EXTENSION IF NOT EXISTS pg_trgm");
    await execute(
      client,
      `CREATE INDEX ${how}IF NOT EXISTS ${quoteName(table.searchIndex)} ` +
        `ON ${table.quoted} USING gin (search gin_trgm_ops)`,
    );
  } catch (error) {
    if (sqlState(error) === undefined) throw error;
    await execute(client, `DROP INDEX IF EXISTS ${quoteName(table.searchIndex)}`);
  }
}

async function fillDerived(client: PoolClient, table: Table): Promise<void> {
  const hasPlaces = table.geoPaths.length > 0;
  for (let last = ""; ;) {
    const { rows } = await run(client, {
      text: `SELECT ${DOCUMENT_COLUMNS} FROM ${table.quoted} WHERE id > $1 ORDER BY id LIMIT ${REBUILD_CHUNK}`,
      values: [last],
    });
    const documents = rows.map((row) => toStored(table, [...row.slice(0, 5), null]));
    await run(client, {
      text:
        `UPDATE ${table.quoted} AS stored SET search = made.search, expires_at = made.expires_at` +
        `${hasPlaces ? ", geo = made.geo::float8[]" : ""} ` +
        "FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::text[]) " +
        "AS made (id, version, search, expires_at, geo) " +
        "WHERE stored.id = made.id AND stored.version = made.version",
      values: [
        rows.map(([id = null]) => id),
        rows.map(([, version = null]) => version),
        documents.map((stored) => searchColumn(table, stored)),
        documents.map((stored) => expiryColumn(table, stored)),
        documents.map((stored) => geoColumn(table, stored)),
      ],
    });
    if (rows.length < REBUILD_CHUNK) return;
    last = rows.at(-1)?.[0] ?? "";
  }
}
