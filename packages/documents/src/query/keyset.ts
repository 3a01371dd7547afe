import type { OrderTerm } from "./parse-query.ts";

/** The value of a field of the order, as engines compare it. @internal */
export type SortValue = number | string | null;

/**
 * A part of the documents behind a place in an order: those that equal it in the first terms, and
 * are beyond it in the next one. An engine finds each by one search of an index, and the parts
 * one after the other are in the order.
 *
 * @internal
 */
export interface Segment {
  readonly equal: readonly { readonly term: OrderTerm; readonly value: SortValue }[];
  readonly beyond: Beyond;
  /** The terms that still sort; those in `equal` are the same for every document. */
  readonly order: readonly OrderTerm[];
}

/** What the value of a term must be. @internal */
export type Beyond =
  | { readonly kind: "greater" | "less"; readonly term: OrderTerm; readonly value: number | string }
  | { readonly kind: "notNull" | "null"; readonly term: OrderTerm; readonly value?: undefined };

/**
 * Takes the documents behind a place apart, given the values there, one for each term.
 *
 * @internal
 */
export function segmentsAfter(
  order: readonly OrderTerm[],
  values: readonly SortValue[],
): readonly Segment[] {
  const segments: Segment[] = [];
  for (let index = order.length - 1; index >= 0; index -= 1) {
    const term = order[index];
    if (term === undefined) continue;
    const equal = order.slice(0, index).map((each, place) => {
      return { term: each, value: values[place] ?? null };
    });
    for (const beyond of beyondOf(term, values[index] ?? null)) {
      const rest = order.slice(beyond.kind === "null" ? index + 1 : index);
      segments.push({ equal, beyond, order: rest });
    }
  }
  return segments;
}

/** Null comes first, so it is behind everything in the descending order, in the fields that can be. */
function beyondOf(term: OrderTerm, value: SortValue): readonly Beyond[] {
  if (!term.descending) {
    return [value === null ? { kind: "notNull", term } : { kind: "greater", term, value }];
  }
  if (value === null) return [];
  const less: Beyond = { kind: "less", term, value };
  return term.path.meta === undefined ? [less, { kind: "null", term }] : [less];
}
