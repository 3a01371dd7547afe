import type { PoolClient } from "pg";
import { toStored } from "../../../document/stored.ts";
import { type Derived, wantedDerived } from "../../derived.ts";
import { registryTable } from "../../own-tables.ts";
import { run } from "../connections/connections.ts";
import { documentColumns } from "../statements/columns.ts";
import { geoColumn } from "../statements/geo.ts";
import type { PostgresLayout } from "../statements/layout.ts";

const rebuildChunk = 500;

/** Entry of a collection in the registry. */
export interface Registered extends Pick<Derived, "expires" | "geo"> {
  /** Whether removed documents are kept. */
  readonly removed: string;
}

/** Reads what the registry says of a collection; `undefined` for one that does not exist. */
export async function readRegistry(
  client: PoolClient,
  layout: PostgresLayout,
): Promise<Registered | undefined> {
  const { rows } = await run(client, {
    text: `SELECT expires, geo, removed FROM ${registryTable} WHERE name = $1`,
    values: [layout.definition.name],
  });
  const [row] = rows;
  if (row === undefined) return undefined;
  const [expires = null, geo = null, removed] = row;
  return {
    expires: expires === null ? null : String(expires),
    geo: geo === null ? null : String(geo),
    removed: String(removed),
  };
}

/** Whether the times of expiry and the places of the documents are up to the definition. */
export function isCurrent(registered: Registered, layout: PostgresLayout): boolean {
  const wanted = wantedDerived(layout.definition);
  return registered.expires === wanted.expires && registered.geo === wanted.geo;
}

/**
 * Derives the times of expiry and the places again when the definition asks for others. While it
 * asks for none they fall behind, which the registry remembers. Returns whether it did anything.
 */
export async function prepareDerived(
  client: PoolClient,
  layout: PostgresLayout,
  registered: Registered | undefined,
): Promise<boolean> {
  if (registered !== undefined && isCurrent(registered, layout)) return false;
  const wanted = wantedDerived(layout.definition);
  if (registered !== undefined) await fillDerived(client, layout);
  await run(client, {
    text: `UPDATE ${registryTable} SET expires = $2, geo = $3 WHERE name = $1`,
    values: [layout.definition.name, wanted.expires, wanted.geo],
  });
  return true;
}

/** Reads an array of numbers from text; Citus UPDATEs have no settings-based casts. */
function arrayOfText(text: string): string {
  return `string_to_array(trim('{}' FROM ${text}), ',', 'NULL')::float8[]`;
}

async function fillDerived(client: PoolClient, layout: PostgresLayout): Promise<void> {
  const hasPlaces = layout.geoPaths.length > 0;
  for (let last = ""; ;) {
    const { rows } = await run(client, {
      text: `SELECT ${documentColumns} FROM ${layout.quoted} WHERE id > $1 ORDER BY id LIMIT ${rebuildChunk}`,
      values: [last],
    });
    const documents = rows.map((row) =>
      toStored(layout.definition.name, [...row.slice(0, 5), null]),
    );
    await run(client, {
      text:
        `UPDATE ${layout.quoted} AS stored SET expires_at = made.expires_at` +
        `${hasPlaces ? `, geo = ${arrayOfText("made.geo")}` : ""} ` +
        "FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[]) " +
        "AS made (id, version, expires_at, geo) " +
        "WHERE stored.id = made.id AND stored.version = made.version",
      values: [
        rows.map(([id = null]) => id),
        rows.map(([, version = null]) => version),
        documents.map((stored) => layout.expiryColumn(stored)),
        documents.map((stored) => geoColumn(layout, stored)),
      ],
    });
    if (rows.length < rebuildChunk) return;
    last = String(rows.at(-1)?.[0]);
  }
}
