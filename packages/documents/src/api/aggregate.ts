import type { Stored } from "./document.ts";
import type { FieldPath, FieldValue } from "./field-path.ts";
import type { Selection } from "./find-query.ts";
import type { ScalarValue } from "./where.ts";

/** Selects the aggregated documents; options of `find` that select, without `near`. */
export type AggregateSelection<T> = Omit<Selection<T>, "near">;

/** Value to compute of a group: the number of documents, or a figure of a field. */
export type AggregateValue<P extends string> =
  | "count"
  /** The exact sum of the numbers, rounded once; 0 without any. Ignores other values. */
  | { readonly sum: P }
  /** The sum of the numbers divided by how many there are; null when there are none. */
  | { readonly avg: P }
  /** The smallest number or, when there are none, string; null when there are neither. */
  | { readonly min: P }
  /** The greatest string or, when there are none, number; null when there are neither. */
  | { readonly max: P };

/** The values to compute, by the names that they have in the result. */
export type AggregateValues<P extends string> = Readonly<Record<string, AggregateValue<P>>>;

/** Groups documents and computes values of each group. */
export interface AggregateQuery<
  T,
  B extends FieldPath<T> = FieldPath<T>,
  V extends AggregateValues<FieldPath<T>> = AggregateValues<FieldPath<T>>,
> extends AggregateSelection<T> {
  /**
   * The field, or up to 8 fields, whose values make the groups. Documents in which it is missing,
   * null, a list or an object are one group with the key null. Default: all documents are one
   * group, even when there are none.
   */
  readonly by?: B | readonly B[] | undefined;
  /** Values to compute of each group, at most 32; no name of a field in `by`. */
  readonly values: V;
  /**
   * The order of the groups: names of values and fields of `by`, descending with a `-` before it.
   * Null comes first, then numbers, then strings. Groups that are equal follow in the ascending
   * order of the fields in `by`, which is the default.
   */
  readonly sort?: readonly AggregateSortKey<B, V>[] | undefined;
  /**
   * The maximum number of groups to return, 1 to 10,000. All groups are computed, and more than
   * 100,000 of them are rejected. Default: `1_000`.
   */
  readonly limit?: number | undefined;
}

/** A value or a field to sort groups by, descending with a `-` before it. */
export type AggregateSortKey<B extends string, V> =
  (keyof V & string) | B | `-${keyof V & string}` | `-${B}`;

/** A group: the fields of `by`, under their paths as in the query, and the values. */
export type AggregateGroup<T, B extends string, V> = {
  readonly [P in B]: GroupKey<FieldValue<Stored<T>, P>>;
} & { readonly [N in keyof V]: AggregateResult<T, V[N]> };

type GroupKey<F> = unknown extends F ? ScalarValue : Extract<F, boolean | number | string> | null;

type AggregateResult<T, V> = V extends "count" | { readonly sum: string }
  ? number
  : V extends { readonly avg: string }
    ? number | null
    : V extends { readonly min: infer P extends string } | { readonly max: infer P extends string }
      ? Comparable<FieldValue<Stored<T>, P>> | null
      : never;

type Comparable<F> = unknown extends F ? number | string : Extract<F, number | string>;

/** Selects the different values of a field. */
export interface DistinctQuery<T> extends AggregateSelection<T> {
  /** The maximum number of values to return, 1 to 10,000. Default: `1_000`. */
  readonly limit?: number | undefined;
}

/** A value of a field that is not null, or of a member where the field is a list. */
export type MemberValue<F> = unknown extends F
  ? boolean | number | string
  : Extract<F extends readonly (infer M)[] ? M : F, boolean | number | string>;
