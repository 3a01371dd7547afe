import type { PoolClient } from "pg";
import { keepsRemoved } from "../../query/parse-purge.ts";
import { run } from "./connections.ts";
import { REGISTRY } from "./own-tables.ts";
import type { Table } from "./table.ts";

/** What the registry says of a collection: whether its table may have documents that were removed. */
export function wantedRemoved({ softDelete }: Table): "kept" | "none" {
  return softDelete ? "kept" : "none";
}

/**
 * Notes whether removed documents are kept. The table is only looked through for them when the
 * definition has lost `softDelete`, without which they would be there and never be seen.
 *
 * @throws {DocumentsTypeError} `ERR_DOCUMENTS_DEFINITION` when it has some.
 */
export async function settleRemoved(
  client: PoolClient,
  table: Table,
  registered: string | null,
): Promise<void> {
  const wanted = wantedRemoved(table);
  if (registered === wanted) return;
  if (wanted === "none") {
    const { rows } = await run(client, {
      text: `SELECT id FROM ${table.quoted} WHERE deleted_at IS NOT NULL LIMIT 1`,
      values: [],
    });
    if (rows.length > 0) throw keepsRemoved(table.definition);
  }
  await run(client, {
    text: `UPDATE ${REGISTRY} SET removed = $2 WHERE name = $1`,
    values: [table.definition.name, wanted],
  });
}
