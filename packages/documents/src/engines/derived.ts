import type { CollectionDefinition } from "../api/definition.ts";
import { parsePath, valueAt } from "../api/field-path.ts";
import { foldedText, searchText } from "../document/search-text.ts";
import { isPlainObject } from "../is-plain-object.ts";

/** Raised when `searchText` changes, so that search texts are made again. */
const foldVersion = 3;

/** How search texts are derived, also for programs of earlier releases, by the version. */
const texts: ReadonlyMap<unknown, typeof searchText> = new Map([
  [2, foldedText],
  [foldVersion, searchText],
]);

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
  /** Whether the fields of two documents have the same values, so that their texts are the same. */
  readonly isSame: (before: unknown, after: unknown) => boolean;
}

/** Reads what the registry says of search texts. */
export function parseSearch(derived: string): ParsedSearch {
  const value: unknown = JSON.parse(derived);
  const { fold, fields } = isPlainObject(value) ? value : {};
  const names = Array.isArray(fields) ? fields.map(String) : [];
  const paths = names.map((field) => parsePath(field));
  const isSame = (before: unknown, after: unknown): boolean =>
    paths.every(({ segments }) => isEqual(valueAt(before, segments), valueAt(after, segments)));
  const derive = texts.get(fold);
  const textOf = derive && ((stored: unknown): string => derive(stored, paths));
  return { fields: names, textOf, isSame };
}

function isEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  return typeof one === "object" && JSON.stringify(one) === JSON.stringify(other);
}
