import type { Stored } from "../../api/document.ts";
import { DocumentsError } from "../../api/errors.ts";
import { searchText } from "../../document/fold.ts";
import { parseJsonText } from "../../document/json-text.ts";
import { withMeta } from "../../document/stored.ts";
import type { Row } from "./row-query.ts";
import type { Table } from "./table.ts";

/** The columns that make up a document, in this order in every statement. */
export const DOCUMENT_COLUMNS = "id, version, created_at, updated_at, doc, deleted_at";

/** Makes the document of a row; the type of its own fields is the word of the caller. */
export function toStored<T>(table: Table, row: Row): Stored<T> {
  const [id, version, createdAt, updatedAt, doc, deletedAt] = row;
  if (typeof doc !== "string") {
    throw new DocumentsError(
      "ERR_DOCUMENTS_ENGINE",
      `A document of "${table.definition.name}" is damaged`,
    );
  }
  const fields: object = parseJsonText(doc);
  const stored = withMeta<T>({ id, version: Number(version), createdAt, updatedAt }, fields);
  return typeof deletedAt === "string" ? { ...stored, deletedAt } : stored;
}

/** Gives the search text of a document; NULL in a collection without search. */
export function searchColumn(table: Table, stored: unknown): string | null {
  return table.searchPaths.length === 0 ? null : searchText(stored, table.searchPaths);
}

/** Gives the time at which a document expires, as the text of a bigint; NULL for never. */
export function expiryColumn(table: Table, stored: unknown): string | null {
  const time = table.expiresAt?.(stored) ?? null;
  return time === null ? null : String(time);
}
