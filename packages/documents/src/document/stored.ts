import { isObject } from "@fetchwork/kit";
import type { Stored } from "../api/document.ts";
import { DamagedError } from "./damaged-error.ts";
import { parseJsonText } from "./json-text.ts";

/**
 * Makes the document of a row: the id, the version, both times, the JSON text, and the time of the
 * removal; or all six as one JSON text. The type of the caller's fields is the word of the caller.
 *
 * @throws {DamagedError} For a row that another program damaged.
 */
export function toStored<T>(collection: string, row: readonly unknown[]): Stored<T> {
  const [id, version, createdAt, updatedAt, doc, deletedAt] = unpackedRow(row);
  if (
    typeof id !== "string" ||
    typeof createdAt !== "string" ||
    typeof updatedAt !== "string" ||
    version === null
  ) {
    throw new DamagedError(collection, String(id));
  }
  const fields = typeof doc === "string" ? parseFields(collection, id, doc) : doc;
  if (!isObject(fields)) throw new DamagedError(collection, id);
  const stored = withMeta<T>({ id, version: Number(version), createdAt, updatedAt }, fields);
  return typeof deletedAt === "string" ? { ...stored, deletedAt } : stored;
}

/**
 * Parses the text of a document.
 *
 * @throws {DamagedError} For a text that another program damaged.
 */
export function parseFields(collection: string, id: string, text: string): Record<string, unknown> {
  try {
    return parseJsonText(text);
  } catch {
    // The error is not passed on as the cause, because its message quotes the text.
    throw new DamagedError(collection, id);
  }
}

/** Parses a row that is one JSON text. */
export function unpackedRow(row: readonly unknown[]): readonly unknown[] {
  if (row.length !== 1) return row;
  const parsed: unknown = JSON.parse(String(row[0]));
  return Array.isArray(parsed) ? parsed : row;
}

/**
 * Joins the fields of the store with those of a document.
 *
 * It is not one literal: where many objects of a literal live long (bulk loads), V8 allocates all
 * later ones in the old generation. The objects of reads are soon garbage there.
 */
function withMeta<T>(meta: object, fields: object): Stored<T> {
  // The definition names T for whatever was accepted into its collection.
  return { ...meta, ...fields } as Stored<T>;
}
