import type { CollectionDefinition } from "../api/definition.ts";

/** Raised when `searchText` changes, so that search texts are made again. */
const foldVersion = 3;

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
