import type { Stored } from "../document.ts";
import { DocumentsError } from "../errors.ts";
import type { Row } from "./connection.ts";

/** The columns that make up a document, in this order in every statement. */
export const DOCUMENT_COLUMNS = "id, version, created_at, updated_at, doc";

/** A row of {@link DOCUMENT_COLUMNS}. */
export type DocumentRow = readonly [
  id: string,
  version: number,
  createdAt: string,
  updatedAt: string,
  doc: string,
];

/** Makes the document of a row; the type of its own fields is the word of the caller. */
export function toStored<T>(row: Row): Stored<T> {
  const [id, version, createdAt, updatedAt, doc] = documentRow(row);
  const fields: object = parseObject(doc);
  // The definition names T for whatever was accepted into this collection.
  return { id, version, createdAt, updatedAt, ...fields } as Stored<T>;
}

function documentRow(row: Row): DocumentRow {
  if (isDocumentRow(row)) return row;
  throw new DocumentsError("ERR_DOCUMENTS_ENGINE", "A row of the store is damaged");
}

/** Parses the text of a document. */
export function parseObject(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  if (isRecord(value)) return value;
  throw new DocumentsError("ERR_DOCUMENTS_ENGINE", "A document of the store is damaged");
}

function isDocumentRow(row: Row): row is DocumentRow {
  return (
    typeof row[0] === "string" &&
    typeof row[1] === "number" &&
    typeof row[2] === "string" &&
    typeof row[3] === "string" &&
    typeof row[4] === "string"
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
