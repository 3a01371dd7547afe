import type { Stored } from "../../api/document.ts";
import { isPossibleId } from "../../document/id.ts";
import { toStored } from "../../document/stored.ts";
import type { Layout } from "../layout.ts";
import type { Operation, Row } from "../operation.ts";

/** Reads documents in the order of the ids. */
export function* getDocuments<T>(
  layout: Layout,
  ids: readonly string[],
): Operation<readonly (Stored<T> | undefined)[]> {
  const rows = yield* getRows(layout, ids);
  return rows.map((row) =>
    row === undefined ? undefined : toStored<T>(layout.definition.name, row),
  );
}

/** Reads the rows of documents in the order of the ids. */
export function* getRows(
  layout: Layout,
  ids: readonly string[],
): Operation<readonly (Row | undefined)[]> {
  // No document has another id, and PostgreSQL refuses to look for a text with U+0000.
  const possible = ids.filter(isPossibleId);
  if (possible.length === 0) return ids.map(() => undefined);
  const sql = layout.begin();
  // Whether a document can be seen is checked here: with that condition a server that has no statistics yet would
  // rather use an index of all documents that can.
  const { rows } = yield sql.read(
    `SELECT ${layout.columns}, ${layout.expiresColumn} FROM ${layout.quoted} ` +
      `WHERE ${sql.isIn("id", possible, "text")}`,
    "fixed",
  );
  const now = layout.expiresAt === undefined ? 0 : Date.now();
  const visible = rows.filter((row) => row[5] === null && !isExpired(layout, row, now));
  if (ids.length === 1) return [visible[0]];
  const rowsById = new Map(visible.map((row) => [row[0], row]));
  return ids.map((id) => rowsById.get(id));
}

function isExpired({ expiresAt }: Layout, row: Row, now: number): boolean {
  const time = row[6] ?? null;
  return expiresAt !== undefined && time !== null && Number(time) <= now;
}
