import type { OrderTerm } from "./parse-query.ts";

/** The value of a field of the order, as engines compare it. */
export type SortValue = number | string | null;

/**
 * A part of the documents after a place in an order. An engine finds each part by one search of an
 * index. The parts one after the other are in the order; a condition with OR would not be served by
 * any index.
 */
export type Part = RowsAfter | Segment;

/** The documents after a place, by one comparison of rows. */
export interface RowsAfter {
  readonly kind: "rows";
  readonly order: readonly OrderTerm[];
  readonly values: readonly (number | string)[];
}

/** The documents that equal a place in the first terms and are after it in the next one. */
export interface Segment {
  readonly kind: "segment";
  readonly equal: readonly { readonly term: OrderTerm; readonly value: SortValue }[];
  readonly beyond: Beyond;
  /** The terms that still sort; those in `equal` are the same for every document. */
  readonly order: readonly OrderTerm[];
}

/** Demands on the value of a term. */
export type Beyond =
  | { readonly kind: "greater" | "less"; readonly term: OrderTerm; readonly value: number | string }
  | { readonly kind: "notNull" | "null"; readonly term: OrderTerm; readonly value?: undefined };

/**
 * Splits the documents after a place into parts, given the values there, one for each term.
 * `comparesRows`: whether an index of the engine serves a comparison of rows.
 */
export function partsAfter(
  order: readonly OrderTerm[],
  values: readonly SortValue[],
  { comparesRows }: { readonly comparesRows: boolean },
): readonly Part[] {
  const parts = comparesRows ? rowsAfter(order, values) : undefined;
  return parts ?? segmentsAfter(order, values);
}

/** Compares rows in an order of one direction, without nulls in the comparison. */
function rowsAfter(
  order: readonly OrderTerm[],
  after: readonly SortValue[],
): readonly Part[] | undefined {
  const [first, ...rest] = order;
  const values = after.filter((value) => value !== null);
  if (first === undefined || rest.length === 0 || values.length < order.length) return undefined;
  const { descending } = first;
  if (rest.some((term) => term.descending !== descending)) return undefined;
  const rows: RowsAfter = { kind: "rows", order, values };
  if (!descending) return [rows];
  // Null is after everything, so documents without a value in a later field are in between.
  if (rest.some(({ path }) => path.meta === undefined)) return undefined;
  if (first.path.meta !== undefined) return [rows];
  const missing: Beyond = { kind: "null", term: first };
  return [rows, { kind: "segment", equal: [], beyond: missing, order: rest }];
}

function segmentsAfter(
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
      segments.push({ kind: "segment", equal, beyond, order: rest });
    }
  }
  return segments;
}

/** Null comes first, so after everything in descending order of nullable fields. */
function beyondOf(term: OrderTerm, value: SortValue): readonly Beyond[] {
  if (!term.descending) {
    return [value === null ? { kind: "notNull", term } : { kind: "greater", term, value }];
  }
  if (value === null) return [];
  const less: Beyond = { kind: "less", term, value };
  return term.path.meta === undefined ? [less, { kind: "null", term }] : [less];
}
