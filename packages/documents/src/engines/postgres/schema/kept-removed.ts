import type { PoolClient } from "pg";
import { keepsRemoved } from "../../../query/parse-many.ts";
import { registryTable } from "../../own-tables.ts";
import { run } from "../connections/connections.ts";
import type { PostgresLayout } from "../statements/layout.ts";
import { dropTotal } from "./kept-total.ts";

/** Entry of the registry: whether the table of a collection may have removed documents. */
export function wantedRemoved({ softDelete }: PostgresLayout): "kept" | "none" {
  return softDelete ? "kept" : "none";
}

/**
 * Notes whether removed documents are kept. The table is looked through for them only when the
 * definition has lost `softDelete`. They would then be there and never be seen.
 *
 * @throws {DocumentsTypeError} `ERR_DOCUMENTS_DEFINITION` when it has some.
 */
export async function settleRemoved(
  client: PoolClient,
  layout: PostgresLayout,
  registered: string,
): Promise<void> {
  const wanted = wantedRemoved(layout);
  if (registered === wanted) return;
  if (wanted === "none") {
    const { rows } = await run(client, {
      text: `SELECT id FROM ${layout.quoted} WHERE deleted_at IS NOT NULL LIMIT 1`,
      values: [],
    });
    if (rows.length > 0) throw keepsRemoved(layout.definition);
  } else {
    // A total that was kept without removed documents does not count them.
    await dropTotal(client, layout);
  }
  await run(client, {
    text: `UPDATE ${registryTable} SET removed = $2 WHERE name = $1`,
    values: [layout.definition.name, wanted],
  });
}
