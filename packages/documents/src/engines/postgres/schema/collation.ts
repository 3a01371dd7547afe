import type { PoolClient } from "pg";
import { toStored } from "../../../document/stored.ts";
import { type CollatedField, isCollationKey, staleKeySql } from "../../collation.ts";
import { execute, run } from "../connections/connections.ts";
import { collationColumn } from "../statements/collation.ts";
import { documentColumns } from "../statements/columns.ts";
import type { PostgresLayout } from "../statements/layout.ts";

const chunk = 500;

/** Writes the columns of keys, each with a comma before it. */
export function keyColumnsSql({ collated }: PostgresLayout, prefix = ""): string {
  return [...collated.values()]
    .map(({ key, of }) => `, ${prefix}${key} text COLLATE "C", ${prefix}${of} bigint`)
    .join("");
}

/** Whether the keys of all documents are current; fails where a column is missing. */
export async function areKeysCurrent(
  client: PoolClient,
  { collated, quoted }: PostgresLayout,
): Promise<boolean> {
  for (const field of collated.values()) {
    const { count } = await run(client, {
      text: `SELECT 1 FROM ${quoted} WHERE deleted_at IS NULL AND ${staleKeySql(field)} LIMIT 1`,
      values: [],
    });
    if (count > 0) return false;
  }
  return true;
}

/** Adds the columns of keys that a table lacks; looked for first, because adding needs a lock. */
export async function addKeyColumns(client: PoolClient, layout: PostgresLayout): Promise<void> {
  if (layout.collated.size === 0) return;
  const columns = await readColumns(client, layout);
  if ([...layout.collated.values()].every(({ key }) => columns.includes(key))) return;
  const added = keyColumnsSql(layout, "ADD COLUMN IF NOT EXISTS ").slice(1);
  await execute(client, `ALTER TABLE ${layout.quoted}${added}`);
}

/** Derives the keys of documents of which they are not current: programs that do not know the columns wrote these. */
export async function deriveKeys(client: PoolClient, layout: PostgresLayout): Promise<void> {
  for (const field of layout.collated.values()) await deriveField(client, layout, field);
}

async function deriveField(
  client: PoolClient,
  { definition, quoted, keyForm }: PostgresLayout,
  field: CollatedField,
): Promise<void> {
  for (let last = "", isFull = true; isFull;) {
    const { rows } = await run(client, {
      text:
        `SELECT ${documentColumns} FROM ${quoted} WHERE ${staleKeySql(field)} AND id > $1 ` +
        `ORDER BY id LIMIT ${chunk}`,
      values: [last],
    });
    isFull = rows.length === chunk;
    last = String(rows.at(-1)?.[0]);
    if (rows.length === 0) return;
    await run(client, {
      text:
        `UPDATE ${quoted} AS stored SET ${field.key} = made.key, ${field.of} = made.version ` +
        "FROM unnest($1::text[], $2::bigint[], $3::text[]) AS made (id, version, key) " +
        "WHERE stored.id = made.id AND stored.version = made.version",
      values: [
        rows.map(([id = null]) => id),
        rows.map(([, version = null]) => version),
        rows.map((row) =>
          collationColumn(field, toStored(definition.name, row.slice(0, 5)), keyForm),
        ),
      ],
    });
  }
}

/** Drops the columns of keys that a definition does not ask for, and their indexes with them. */
export async function dropKeyColumns(client: PoolClient, layout: PostgresLayout): Promise<void> {
  const wanted = new Set([...layout.collated.values()].map(({ key }) => key));
  const columns = await readColumns(client, layout);
  const unused = columns.filter((column) => isCollationKey(column) && !wanted.has(column));
  if (unused.length === 0) return;
  const drops = unused.flatMap((key) => [key, `${key}_of`]).map((name) => `DROP COLUMN ${name}`);
  await execute(client, `ALTER TABLE ${layout.quoted} ${drops.join(", ")}`);
}

async function readColumns(
  client: PoolClient,
  { quoted }: PostgresLayout,
): Promise<readonly string[]> {
  const { rows } = await run(client, {
    text: "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass($1) AND NOT attisdropped",
    values: [quoted],
  });
  return rows.map(([name]) => String(name));
}
