import { createHash } from "node:crypto";
import { InputError } from "../api/errors.ts";
import { type ParsedPath, parsePath, valueAt } from "../api/field-path.ts";
import { collatedValue } from "../document/collation.ts";
import { sortValue } from "../query/cursor.ts";
import type { SortValue } from "../query/keyset.ts";

/**
 * A field that is sorted by a collation. Its key is a column of the document's row, next to the version of the document that
 * it was derived from: a program that does not know the column leaves that behind.
 */
export interface CollatedField {
  readonly path: ParsedPath;
  /** Column of the key. */
  readonly key: string;
  /** Column of the version. */
  readonly of: string;
}

const columnPattern = /^collated_[0-9a-f]{16}$/;

/** Describes the fields of a collection that have a collation, by their paths. */
export function collatedFields(fields: readonly string[]): ReadonlyMap<string, CollatedField> {
  return new Map(
    fields.map((field) => {
      const hash = createHash("sha256").update(field).digest("hex").slice(0, 16);
      return [
        field,
        { path: parsePath(field), key: `collated_${hash}`, of: `collated_${hash}_of` },
      ];
    }),
  );
}

/** Returns the column of the key of a field, by which it is compared regardless of case. */
export function requireCollated(
  collated: ReadonlyMap<string, CollatedField>,
  { text }: ParsedPath,
): string {
  const field = collated.get(text);
  if (field !== undefined) return field.key;
  throw new InputError(
    "ERR_DOCUMENTS_QUERY",
    `"eqIgnoreCase" needs a collation, declare collate: [${JSON.stringify(text)}]`,
    text,
  );
}

/** Whether a column is the key of a field that has, or had, a collation. */
export function isCollationKey(column: string): boolean {
  return columnPattern.test(column);
}

/** Returns what a document is sorted by in a field that has a collation. */
export function keyOf({ path }: CollatedField, stored: unknown): SortValue {
  return collatedValue(valueAt(stored, path.segments), sortValue);
}

/** Returns what a document is sorted by in each term of an order. */
export function sortValuesOf(
  { collated }: { readonly collated: ReadonlyMap<string, CollatedField> },
  stored: unknown,
  order: readonly { readonly path: ParsedPath }[],
): readonly SortValue[] {
  return order.map(({ path }) => {
    const field = collated.get(path.text);
    return field === undefined ? sortValue(valueAt(stored, path.segments)) : keyOf(field, stored);
  });
}

/** Writes the condition that the key of a row is not that of its document. */
export function staleKeySql({ of }: CollatedField): string {
  return `(${of} IS NULL OR ${of} <> version)`;
}

/** Writes what an UPDATE that raises the version by 1 and leaves the keys as they are sets; with a comma before each. */
export function keepingKeys(collated: ReadonlyMap<string, CollatedField>): string {
  return [...collated.values()]
    .map(({ of }) => `, ${of} = CASE WHEN ${of} = version THEN version + 1 ELSE ${of} END`)
    .join("");
}
