import { hash } from "node:crypto";
import { queryError } from "../api/errors.ts";
import { type ParsedPath, valueAt } from "../api/field-path.ts";
import type { SortValue } from "./keyset.ts";
import type { OrderTerm } from "./parse-query.ts";

const maxLength = 32 * 1024;
const digestLength = 16;

/**
 * Writes the place after a document in an order: base64url of the JSON text of the values, after a
 * digest of them, of the collection and of the order. The digest has no key: it tells a cursor of
 * another query from one of this query, and protects no value.
 *
 * @throws {InputError} `ERR_DOCUMENTS_QUERY` when the values take more than 32 KiB.
 */
export function writeCursor(
  collection: string,
  order: readonly OrderTerm[],
  sorted: readonly SortValue[],
): string {
  const values = JSON.stringify(sorted);
  const text = digest(collection, order, values) + Buffer.from(values).toString("base64url");
  if (text.length > maxLength) {
    throw queryError(
      `the fields of "sort" are too long for a cursor of ${maxLength} characters`,
      "sort",
    );
  }
  return text;
}

/**
 * Reads the values of a cursor.
 *
 * @throws {InputError} `ERR_DOCUMENTS_QUERY` for one of another collection or order, or none.
 */
export function readCursor(
  collection: string,
  order: readonly OrderTerm[],
  cursor: string,
): readonly SortValue[] {
  if (cursor.length <= maxLength && /^[\w-]+$/.test(cursor)) {
    const text = Buffer.from(cursor.slice(digestLength), "base64url").toString();
    if (digest(collection, order, text) === cursor.slice(0, digestLength)) {
      const values = parse(text);
      if (values?.length === order.length) return values;
    }
  }
  throw queryError('"after" is not a cursor of this collection in this order', "after");
}

function digest(collection: string, order: readonly OrderTerm[], values: string): string {
  const keys = order.map(({ path, descending }) => `${descending ? "-" : ""}${path.text}`);
  const text = JSON.stringify([1, collection, keys, values]);
  return hash("sha256", text, "base64url").slice(0, digestLength);
}

/** Returns a value as it is sorted: booleans with the numbers, objects and lists as their text. */
export function sortValue(value: unknown): SortValue {
  if (typeof value === "number" || typeof value === "string") return value;
  if (typeof value === "boolean") return value ? 1 : 0;
  return value === undefined || value === null ? null : JSON.stringify(value);
}

/** Returns what a document is sorted by in each term of an order. */
export function sortValuesOf(
  stored: unknown,
  order: readonly { readonly path: ParsedPath }[],
): readonly SortValue[] {
  return order.map(({ path }) => sortValue(valueAt(stored, path.segments)));
}

function parse(text: string): readonly SortValue[] | undefined {
  try {
    const values: unknown = JSON.parse(text);
    return Array.isArray(values) && values.every(isSortValue) ? values : undefined;
  } catch {
    return undefined;
  }
}

function isSortValue(value: unknown): value is SortValue {
  // Texts that no document has are no place in an order, and PostgreSQL refuses to compare them.
  if (typeof value === "string") return value.isWellFormed() && !value.includes("\0");
  return value === null || Number.isFinite(value);
}
