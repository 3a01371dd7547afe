import type { PoolClient } from "pg";
import { UniqueError } from "../../../api/errors.ts";
import { toStored } from "../../../document/stored.ts";
import { execute, run } from "../connections/connections.ts";
import { documentColumns } from "../statements/columns.ts";
import { PostgresWriter } from "../statements/dialect.ts";
import type { PostgresLayout } from "../statements/layout.ts";
import { claimsTable, stateTable } from "../statements/own-tables.ts";
import { type Claim, claimList, claimsOf, fieldsOfClaim } from "./claims.ts";
import { DistributedLayout } from "./distributed-layout.ts";

const chunkSize = 500;

/** Tells whether the claims of a collection are those that its definition asks for. */
export async function areClaimsReady(client: PoolClient, layout: PostgresLayout): Promise<boolean> {
  if (!(layout instanceof DistributedLayout)) return true;
  const keys = await readClaimed(client, layout.definition.name);
  return (
    keys.length === layout.claimed.length && layout.claimed.every(({ key }) => keys.includes(key))
  );
}

/**
 * Claims unique fields that the definition has gained for the documents that are there. Claims of
 * fields that it has lost are given up, because nothing would keep them up. May be broken off and
 * begun again.
 *
 * @throws {UniqueError} When documents share the values of a field.
 */
export async function prepareClaims(client: PoolClient, layout: PostgresLayout): Promise<void> {
  if (!(layout instanceof DistributedLayout) || (await areClaimsReady(client, layout))) return;
  const before = await readClaimed(client, layout.definition.name);
  const kept = layout.claimed.map(({ key }) => key).filter((key) => before.includes(key));
  // In this order, so that what the state names is there whenever this is broken off.
  await writeClaimed(client, layout, kept);
  await run(client, {
    text: `DELETE FROM ${claimsTable} WHERE collection = $1 AND NOT field = ANY($2::text[])`,
    values: [layout.definition.name, kept],
  });
  for (let last: string | undefined = ""; last !== undefined;) {
    last = await claimChunk(client, layout, { last, kept });
  }
  await writeClaimed(
    client,
    layout,
    layout.claimed.map(({ key }) => key),
  );
}

/** Claims for the documents after an id; returns where to continue, if anywhere. */
async function claimChunk(
  client: PoolClient,
  layout: DistributedLayout,
  { last, kept }: { readonly last: string; readonly kept: readonly string[] },
): Promise<string | undefined> {
  await execute(client, "BEGIN");
  try {
    const { rows } = await run(client, {
      text:
        `SELECT ${documentColumns} FROM ${layout.quoted} WHERE id > $1 AND deleted_at IS NULL ` +
        `ORDER BY id LIMIT ${chunkSize}`,
      values: [last],
    });
    await claim(
      client,
      layout,
      rows
        .flatMap((row) => claimsOf(layout, toStored<object>(layout.definition.name, row)))
        .filter(({ key }) => !kept.includes(key)),
    );
    await execute(client, "COMMIT");
    return rows.length < chunkSize ? undefined : String(rows.at(-1)?.[0]);
  } catch (error) {
    await execute(client, "ROLLBACK").catch(() => undefined);
    throw error;
  }
}

/** Takes claims that are free, and refuses those that another document has. */
async function claim(
  client: PoolClient,
  layout: DistributedLayout,
  claims: readonly Claim[],
): Promise<void> {
  const { name } = layout.definition;
  const taking = new PostgresWriter();
  const collection = taking.bind(name, "text");
  await run(
    client,
    taking.write(
      `INSERT INTO ${claimsTable} (collection, field, value, id) ` +
        `SELECT ${collection}, field, value, id FROM ${claimList(claims, taking)} ` +
        "ON CONFLICT DO NOTHING",
    ),
  );
  const sql = new PostgresWriter();
  const wanted = claimList(claims, sql);
  const { rows } = await run(
    client,
    sql.read(
      `SELECT held.field FROM ${wanted} JOIN ${claimsTable} AS held ` +
        `ON held.collection = ${sql.bind(name, "text")} AND held.field = wanted.field ` +
        "AND held.value = wanted.value AND held.id <> wanted.id LIMIT 1",
    ),
  );
  const [row] = rows;
  if (row !== undefined) throw new UniqueError(name, fieldsOfClaim(layout, row[0]));
}

/** Reads the keys of the fields that a collection claims. */
export async function readClaimed(client: PoolClient, name: string): Promise<readonly string[]> {
  const { rows } = await run(client, {
    text: `SELECT value FROM ${stateTable} WHERE name = $1`,
    values: [stateName(name)],
  });
  const keys: unknown = JSON.parse(String(rows[0]?.[0] ?? "[]"));
  return Array.isArray(keys) ? keys.map(String) : [];
}

async function writeClaimed(
  client: PoolClient,
  { definition }: DistributedLayout,
  keys: readonly string[],
): Promise<void> {
  await run(client, {
    text:
      `INSERT INTO ${stateTable} (name, value) VALUES ($1, $2) ` +
      "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    values: [stateName(definition.name), JSON.stringify(keys)],
  });
}

function stateName(collection: string): string {
  return `claims:${collection}`;
}
