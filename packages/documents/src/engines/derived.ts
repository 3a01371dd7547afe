import type { CollectionDefinition } from "../api/definition.ts";
import { DocumentsError } from "../api/errors.ts";
import { parsePath, valueAt } from "../api/field-path.ts";
import { searchText } from "../document/search-text.ts";
import { isPlainObject } from "../is-plain-object.ts";

/**
 * Raised when `searchText` changes, so that search texts are made again. Earlier releases refuse
 * what has texts that they cannot derive.
 */
const foldVersion = 3;

/** Entries of the registry on data derived from a collection; null for none. */
export interface Derived {
  readonly search: string | null;
  readonly expires: string | null;
  readonly geo: string | null;
}

/** Returns what the registry says of a collection that is up to its definition. */
export function wantedDerived({
  search,
  expires,
  geo = [],
}: CollectionDefinition<unknown>): Derived {
  return {
    search: search.length === 0 ? null : JSON.stringify({ fold: foldVersion, fields: search }),
    expires: expires === undefined ? null : JSON.stringify([expires.field, expires.after ?? 0]),
    geo: geo.length === 0 ? null : JSON.stringify(geo),
  };
}

/** Entry of the registry on search texts, in parts. */
export interface ParsedSearch {
  /** Fields that are searched. */
  readonly fields: readonly string[];
  /** Derives the search text of a document. */
  readonly textOf: (stored: unknown) => string;
  /** Whether the fields of two documents have the same values, so that their texts are the same. */
  readonly isSame: (before: unknown, after: unknown) => boolean;
}

/**
 * Reads what the registry says of search texts.
 *
 * @throws {DocumentsError} `ERR_DOCUMENTS_OPEN` for texts that only another release can derive.
 */
export function parseSearch(derived: string): ParsedSearch {
  const value: unknown = JSON.parse(derived);
  const { fold, fields } = isPlainObject(value) ? value : {};
  if (fold !== foldVersion) {
    throw new DocumentsError(
      "ERR_DOCUMENTS_OPEN",
      `the store has search texts that another release derived, of version ${String(fold)}`,
    );
  }
  const names = Array.isArray(fields) ? fields.map(String) : [];
  const paths = names.map((field) => parsePath(field));
  const isSame = (before: unknown, after: unknown): boolean =>
    paths.every(({ segments }) => isEqual(valueAt(before, segments), valueAt(after, segments)));
  return { fields: names, textOf: (stored) => searchText(stored, paths), isSame };
}

function isEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  return typeof one === "object" && JSON.stringify(one) === JSON.stringify(other);
}
