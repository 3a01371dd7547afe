import type { Stored } from "../../api/document.ts";
import { parseJsonText } from "../../document/json-text.ts";
import { withMeta } from "../../document/stored.ts";
import type { Row } from "./connection.ts";
import { DamagedError } from "./sqlite-error.ts";
import type { Table } from "./table.ts";

/** The columns that make up a document, in this order in every statement. */
export const DOCUMENT_COLUMNS = "id, version, created_at, updated_at, doc";

/** A row of {@link DOCUMENT_COLUMNS}. */
export type DocumentRow = readonly [
  id: string,
  version: number,
  createdAt: string,
  updatedAt: string,
  doc: string,
  deletedAt?: string | null,
];

/** Makes the document of a row; the type of its own fields is the word of the caller. */
export function toStored<T>(table: Table, row: Row): Stored<T> {
  if (!isDocumentRow(row)) throw new DamagedError(table.definition.name, String(row[0]));
  const [id, version, createdAt, updatedAt, doc, deletedAt] = row;
  const fields: object = parseFields(table, id, doc);
  const document = withMeta<T>({ id, version, createdAt, updatedAt }, fields);
  return typeof deletedAt === "string" ? { ...document, deletedAt } : document;
}

/** Parses the text of a document, which another program may have damaged. */
function parseFields(table: Table, id: string, text: string): Record<string, unknown> {
  try {
    return parseJsonText(text);
  } catch {
    // The error is not passed on as the cause, because its message quotes the text.
    throw new DamagedError(table.definition.name, id);
  }
}

function isDocumentRow(row: Row): row is DocumentRow {
  return (
    typeof row[0] === "string" &&
    typeof row[1] === "number" &&
    typeof row[2] === "string" &&
    typeof row[3] === "string" &&
    typeof row[4] === "string" &&
    (row[5] === undefined || row[5] === null || typeof row[5] === "string")
  );
}
