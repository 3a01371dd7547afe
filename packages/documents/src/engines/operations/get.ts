import type { Stored } from "../../api/document.ts";
import { isPossibleId } from "../../document/id.ts";
import { toStored, unpackedRow } from "../../document/stored.ts";
import type { Layout } from "../layout.ts";
import type { Operation, Row } from "../operation.ts";

/** Reads a document. */
export function* getDocument<T>(layout: Layout, id: string): Operation<Stored<T> | undefined> {
  // No document has another id, and PostgreSQL refuses to look for a text with U+0000.
  if (!isPossibleId(id)) return undefined;
  const [row] = (yield layout.readById(id)).rows;
  return row === undefined ? undefined : visible<T>(layout, row);
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
    const stored = visible<T>(layout, row);
    if (stored !== undefined) byId.set(stored.id, stored);
  }
  return ids.map((id) => byId.get(id));
}

function visible<T>({ definition, expiresAt }: Layout, read: Row): Stored<T> | undefined {
  const row = unpackedRow(read);
  const [, , , , , deletedAt, time = null] = row;
  const isExpired = expiresAt !== undefined && time !== null && Number(time) <= Date.now();
  return deletedAt === null && !isExpired ? toStored<T>(definition.name, row) : undefined;
}
