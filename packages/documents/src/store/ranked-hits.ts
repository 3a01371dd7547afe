import type { Stored } from "../api/document.ts";
import { parsePath } from "../api/field-path.ts";
import { relevanceOf } from "../document/relevance.ts";
import type { Layout } from "../engines/layout.ts";
import type { SortValue } from "../query/keyset.ts";

/** A document that was found by words, and how well it matches them. */
export interface RankedHit<T> {
  readonly stored: Stored<T>;
  readonly relevance: number;
}

/** Sorts hits by their relevance, of equal ones the newest first, and returns those after a place. */
export function rankHits<T>(
  { definition }: Layout,
  hits: readonly Stored<T>[],
  {
    words,
    after,
  }: { readonly words: readonly string[]; readonly after?: readonly SortValue[] | undefined },
): readonly RankedHit<T>[] {
  const paths = definition.search.map((field) => parsePath(field));
  // They are read newest first, and sorting keeps the order of equal ones.
  const ranked = hits
    .map((stored) => ({ stored, relevance: relevanceOf(stored, words, paths) }))
    .toSorted((one, other) => other.relevance - one.relevance);
  if (after === undefined) return ranked;
  return ranked.filter((hit) => isAfter(placeOf(hit), after));
}

/** Returns the values of a hit in `rankedOrder`. */
export function placeOf({
  stored,
  relevance,
}: RankedHit<unknown>): readonly [number, string, string] {
  return [relevance, stored.createdAt, stored.id];
}

/** Whether a place is after another one; all values descend. */
function isAfter(place: readonly (number | string)[], after: readonly SortValue[]): boolean {
  for (const [index, value] of place.entries()) {
    const other = after[index] ?? value;
    if (value !== other) return value < other;
  }
  return false;
}
