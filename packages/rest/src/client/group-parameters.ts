import type { FieldOf, ListParameters, Names, QueryParameters } from "./list-parameters.ts";

type GroupKind = "avg" | "max" | "min" | "sum";

/** A key to sort groups by; `-` reverses. */
type GroupOrder<D> = "count" | FieldOf<D> | `${GroupKind}.${FieldOf<D>}`;

/**
 * Parameters of the groups of `D`, with the filters of a list. The API decides which fields make
 * groups; others are a 400.
 */
export type GroupParameters<D> = {
  /** Fields whose values make the groups, at most 8. Default: all documents are one group. */
  readonly by?: Names<FieldOf<D>> | undefined;
  /** Fields whose numbers are added. */
  readonly sum?: Names<FieldOf<D>> | undefined;
  /** Fields of whose numbers the average is computed. */
  readonly avg?: Names<FieldOf<D>> | undefined;
  /** Fields whose smallest value is found. */
  readonly min?: Names<FieldOf<D>> | undefined;
  /** Fields whose greatest value is found. */
  readonly max?: Names<FieldOf<D>> | undefined;
  /** Order of the groups. Default: that of `by`. */
  readonly sort?: Names<GroupOrder<D> | `-${GroupOrder<D>}`> | undefined;
  /** Groups at most, 1 to 1,000. Default: `100`. */
  readonly limit?: number | undefined;
} & Omit<ListParameters<D>, Exclude<keyof QueryParameters<D>, "q" | "where"> | "by" | GroupKind>;

/** One group: the values that its documents share, their number, and what is computed of them. */
export type Group<D, Query> = {
  readonly by: { readonly [F in NamedIn<Query, "by", D>]: GroupKey<D[F]> };
  readonly count: number;
} & (Query extends { readonly sum: unknown }
  ? { readonly sum: { readonly [F in NamedIn<Query, "sum", D>]: number } }
  : unknown) &
  (Query extends { readonly avg: unknown }
    ? { readonly avg: { readonly [F in NamedIn<Query, "avg", D>]: number | null } }
    : unknown) &
  (Query extends { readonly min: unknown }
    ? { readonly min: { readonly [F in NamedIn<Query, "min", D>]: Compared<D[F]> } }
    : unknown) &
  (Query extends { readonly max: unknown }
    ? { readonly max: { readonly [F in NamedIn<Query, "max", D>]: Compared<D[F]> } }
    : unknown);

/** Fields that a parameter names. */
type NamedIn<Query, Parameter extends string, D> = Query extends {
  readonly [P in Parameter]: infer Given;
}
  ? Extract<Given extends readonly (infer Name)[] ? Name : Given, keyof D>
  : never;

/** Documents without the value are one group; one with an owner is grouped by its identifier. */
type GroupKey<Value> =
  | Extract<Value, boolean | number | string>
  | (Extract<Value, { readonly id: string }> extends never ? never : string)
  | null;

type Compared<Value> = Extract<Value, number | string> | null;
