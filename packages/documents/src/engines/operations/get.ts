import type { Stored } from "../../api/document.ts";
import { isPossibleId } from "../../document/id.ts";
import { toStored } from "../../document/stored.ts";
import type { Layout } from "../layout.ts";
import type { Operation, Row } from "../operation.ts";

/** Reads a document. */
export function* getDocument<T>(layout: Layout, id: string): Operation<Stored<T> | undefined> {
  if (!isPossibleId(id)) return undefined;
  const [row] = (yield layout.readById(id)).rows;
  if (row === undefined || !isVisible(layout, row)) return undefined;
  return toStored<T>(layout.definition.name, row);
}

/** Reads the row of a document. */
export function* getRow(layout: Layout, id: string): Operation<Row | undefined> {
  // No document has another id, and PostgreSQL refuses to look for a text with U+0000.
  if (!isPossibleId(id)) return undefined;
  const [row] = (yield layout.readById(id)).rows;
  return row !== undefined && isVisible(layout, row) ? row : undefined;
}

/** Reads documents in the order of the ids. */
export function* getDocuments<T>(
  layout: Layout,
  ids: readonly string[],
): Operation<readonly (Stored<T> | undefined)[]> {
  const possible = ids.filter(isPossibleId);
  if (possible.length === 0) return ids.map(() => undefined);
  const sql = layout.begin();
  const { rows } = yield sql.read(layout.selectRows + sql.isIn("id", possible, "text"), "fixed");
  const byId = new Map<string, Stored<T>>();
  for (const row of rows) {
    if (isVisible(layout, row)) byId.set(String(row[0]), toStored<T>(layout.definition.name, row));
  }
  return ids.map((id) => byId.get(id));
}

function isVisible({ expiresAt }: Layout, row: Row): boolean {
  const [, , , , , deletedAt, time = null] = row;
  if (deletedAt !== null) return false;
  return expiresAt === undefined || time === null || Number(time) > Date.now();
}
