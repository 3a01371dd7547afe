import type { CollectionDefinition } from "../api/definition.ts";
import { parsePath } from "../api/field-path.ts";
import { searchText } from "../document/fold.ts";
import { isPlainObject } from "../is-plain-object.ts";

/** Raised when `fold` changes, so that search texts are made again. */
const foldVersion = 2;

/** What the registry says of what is derived from the documents of a collection; null for nothing. */
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

/** What the registry says of search texts, in parts. */
export interface ParsedSearch {
  /** Fields that are searched. */
  readonly fields: readonly string[];
  /** Derives the search text of a document; undefined where only another release can. */
  readonly textOf: ((stored: unknown) => string) | undefined;
}

/** Reads what the registry says of search texts. */
export function parseSearch(derived: string): ParsedSearch {
  const value: unknown = JSON.parse(derived);
  const { fold, fields } = isPlainObject(value) ? value : {};
  const names = Array.isArray(fields) ? fields.map(String) : [];
  if (fold !== foldVersion) return { fields: names, textOf: undefined };
  const paths = names.map((field) => parsePath(field));
  return { fields: names, textOf: (stored) => searchText(stored, paths) };
}
