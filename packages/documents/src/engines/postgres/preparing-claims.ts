import type { PoolClient } from "pg";
import { UniqueError } from "../../api/errors.ts";
import { type Claim, claimsOf } from "./claims.ts";
import { execute, run } from "./connections.ts";
import { CLAIMS, STATE } from "./own-tables.ts";
import { DOCUMENT_COLUMNS, toStored } from "./row.ts";
import type { Table } from "./table.ts";

const CHUNK = 500;

/** Tells whether the claims of a collection are those that its definition asks for. */
export async function areClaimsReady(client: PoolClient, table: Table): Promise<boolean> {
  if (!table.isDistributed) return true;
  const keys = await readClaimed(client, table);
  return (
    keys.length === table.claimed.length && table.claimed.every(({ key }) => keys.includes(key))
  );
}

/**
 * Claims the unique fields of the documents that are there, when the definition has gained some, and
 * gives up those of fields that it has lost, which nothing would keep up any more. May be broken
 * off and begun again.
 *
 * @throws {UniqueError} When documents share the values of a field.
 */
export async function prepareClaims(client: PoolClient, table: Table): Promise<void> {
  if (await areClaimsReady(client, table)) return;
  const before = await readClaimed(client, table);
  const kept = table.claimed.map(({ key }) => key).filter((key) => before.includes(key));
  // In this order, so that what the state names is there whenever this is broken off.
  await writeClaimed(client, table, kept);
  await run(client, {
    text: `DELETE FROM ${CLAIMS} WHERE collection = $1 AND NOT field = ANY($2::text[])`,
    values: [table.definition.name, kept],
  });
  for (let last: string | undefined = ""; last !== undefined;) {
    last = await claimChunk(client, table, { last, kept });
  }
  await writeClaimed(
    client,
    table,
    table.claimed.map(({ key }) => key),
  );
}

/** Claims for the documents behind an id; gives the id to go on behind, if there may be more. */
async function claimChunk(
  client: PoolClient,
  table: Table,
  { last, kept }: { readonly last: string; readonly kept: readonly string[] },
): Promise<string | undefined> {
  await execute(client, "BEGIN");
  try {
    const { rows } = await run(client, {
      text:
        `SELECT ${DOCUMENT_COLUMNS} FROM ${table.quoted} WHERE id > $1 AND deleted_at IS NULL ` +
        `ORDER BY id LIMIT ${CHUNK}`,
      values: [last],
    });
    await claim(
      client,
      table,
      rows
        .flatMap((row) => claimsOf(table, toStored<object>(table, row)))
        .filter(({ key }) => !kept.includes(key)),
    );
    await execute(client, "COMMIT");
    return rows.length < CHUNK ? undefined : (rows.at(-1)?.[0] ?? undefined);
  } catch (error) {
    await execute(client, "ROLLBACK").catch(() => undefined);
    throw error;
  }
}

/** Takes claims that are free, and refuses those that another document has. */
async function claim(client: PoolClient, table: Table, claims: readonly Claim[]): Promise<void> {
  const { name } = table.definition;
  const lists = [
    claims.map(({ key }) => key),
    claims.map(({ value }) => value),
    claims.map(({ id }) => id),
  ];
  await run(client, {
    text:
      `INSERT INTO ${CLAIMS} (collection, field, value, id) SELECT $1, field, value, id ` +
      "FROM unnest($2::text[], $3::text[], $4::text[]) AS wanted (field, value, id) " +
      "ON CONFLICT DO NOTHING",
    values: [name, ...lists],
  });
  const { rows } = await run(client, {
    text:
      "SELECT held.field FROM unnest($2::text[], $3::text[], $4::text[]) AS wanted (field, value, id) " +
      `JOIN ${CLAIMS} AS held ON held.collection = $1 AND held.field = wanted.field ` +
      "AND held.value = wanted.value AND held.id <> wanted.id LIMIT 1",
    values: [name, ...lists],
  });
  const [row] = rows;
  if (row === undefined) return;
  const taken = table.claimed.find(({ key }) => key === row[0]);
  throw new UniqueError(name, taken?.fields ?? []);
}

/** Reads the keys of the fields that a collection claims. */
export async function readClaimed(client: PoolClient, table: Table): Promise<readonly string[]> {
  const { rows } = await run(client, {
    text: `SELECT value FROM ${STATE} WHERE name = $1`,
    values: [stateName(table)],
  });
  const keys: unknown = JSON.parse(rows[0]?.[0] ?? "[]");
  return Array.isArray(keys) ? keys.map(String) : [];
}

async function writeClaimed(
  client: PoolClient,
  table: Table,
  keys: readonly string[],
): Promise<void> {
  await run(client, {
    text:
      `INSERT INTO ${STATE} (name, value) VALUES ($1, $2) ` +
      "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    values: [stateName(table), JSON.stringify(keys)],
  });
}

function stateName(table: Table): string {
  return `claims:${table.definition.name}`;
}
