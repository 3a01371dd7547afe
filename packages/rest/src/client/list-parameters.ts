import type { FilterOperator } from "../plan/filter-parameters.ts";

/** A value of a query parameter; a list is sent with commas between its members. */
export type ParameterValue = string | number | boolean | readonly (string | number | boolean)[];

/** Parameters of a query. `undefined` counts as not given. */
export type ParameterValues = Readonly<Record<string, ParameterValue | undefined>>;

/** Names of the fields of `D`. */
export type FieldOf<D> = Extract<keyof D, string>;

/** Fields by which lists filter or sort, as far as `Lists`, a `ListTypes`, names them; else all. */
type ListedFields<D, Lists, Use extends "filter" | "sort"> = Lists extends {
  readonly [U in Use]: infer Name extends string;
}
  ? string extends Name
    ? FieldOf<D>
    : Name
  : FieldOf<D>;

type ValueOf<D, Name> = Name extends keyof D ? D[Name] : unknown;

/** Names of fields, each with or without a `-` before it. */
type Signed<Name extends string> = Name | `-${Name}`;

/** One name or several. */
export type Names<Name extends string> = Name | readonly Name[];

/** A value of a field or of a member of its list; any value where the field's type is open. */
type ScalarOf<Value> =
  NonNullable<Value> extends readonly (infer Member)[]
    ? ScalarOf<Member>
    : [NonNullable<Value>] extends [string | number | boolean]
      ? NonNullable<Value>
      : string | number | boolean;

/** One value or several, of which one has to be equal. */
type OneOf<Scalar> = Scalar | readonly Scalar[];

/** Operand that an operator compares a field with. */
type Operand<Value, Operator extends FilterOperator> = {
  readonly exists: boolean;
  readonly prefix: string;
  readonly in: OneOf<ScalarOf<Value>> | string;
  readonly nin: OneOf<ScalarOf<Value>> | string;
  readonly contains: OneOf<ScalarOf<Value>>;
}[Operator & ("exists" | "prefix" | "in" | "nin" | "contains")] extends infer Special
  ? [Special] extends [never]
    ? ScalarOf<Value>
    : Special
  : never;

/** Condition of a field: a value, `null` for no value, or values by operator. */
export type WhereValue<Value = unknown> =
  ScalarOf<Value> | null | { readonly [K in FilterOperator]?: Operand<Value, K> | undefined };

/** A filter of several fields of `D`; all members must hold, and of `or` one. */
export type ListWhere<D, Lists = unknown> = {
  readonly [K in ListedFields<D, Lists, "filter">]?: WhereValue<ValueOf<D, K>> | undefined;
} & {
  readonly and?: readonly ListWhere<D, Lists>[] | undefined;
  readonly or?: readonly ListWhere<D, Lists>[] | undefined;
  readonly not?: ListWhere<D, Lists> | undefined;
};

/** Latitude and longitude in degrees. */
type Place = readonly [latitude: number, longitude: number];

/** Parameters of `query`: those of a list, except the filters of single fields. */
export interface QueryParameters<D, Lists = unknown, Near = Place> {
  /** Words that must occur: from 3 characters on parts of words, below beginnings of words. */
  readonly q?: string | undefined;
  /** Number of the page, from 1. */
  readonly page?: number | undefined;
  /** Documents on a page, 1 to 100. */
  readonly limit?: number | undefined;
  /** Cursor of the page before. */
  readonly after?: string | undefined;
  /** Fields to sort by; `-` reverses. */
  readonly sort?: Names<Signed<ListedFields<D, Lists, "sort">>> | undefined;
  /** Fields to show, or with `-` to leave out. */
  readonly fields?: Names<Signed<FieldOf<D>>> | undefined;
  /** A filter with `and`, `or` and `not`, of fields that filter. */
  readonly where?: ListWhere<D, Lists> | undefined;
  /** Paths of relations whose documents are put in the place of their identifiers. */
  readonly populate?: string | readonly string[] | undefined;
  /** Place whose nearest documents come first, for a resource with `geo`; not with `sort`. */
  readonly near?: Near | undefined;
  /** Minimum distance from `near`, in meters. */
  readonly min_distance?: number | undefined;
  /** Maximum distance from `near`, in meters. */
  readonly max_distance?: number | undefined;
  /** Removed documents alone, or too; for admins. */
  readonly trash?: "only" | "with" | undefined;
}

/**
 * Parameters of a list of `D`. Fields that do not filter or sort do not compile, or are a 400 where
 * `Lists` does not say. A resource's own parameters go into the option `query`.
 */
export type ListParameters<D, Lists = unknown> = QueryParameters<D, Lists, Place | string> & {
  readonly [K in ListedFields<D, Lists, "filter">]?: OneOf<ScalarOf<ValueOf<D, K>>> | undefined;
} & {
  readonly [
    K in `${ListedFields<D, Lists, "filter">}[${FilterOperator}]`
  ]?: K extends `${infer Field}[${infer Operator extends FilterOperator}]`
    ? Operand<ValueOf<D, Field>, Operator> | undefined
    : never;
};

/** Makes parameters of texts; what is not given is left out. */
export function queryTexts(
  ...sources: readonly (object | undefined)[]
): Readonly<Record<string, string>> {
  const texts = new Map<string, string>();
  for (const source of sources) {
    for (const [name, value] of Object.entries(source ?? {})) {
      // The types of all sources allow only such values.
      const given = value as ListWhere<object> | ParameterValue | undefined;
      if (given !== undefined) texts.set(name, textOf(given));
    }
  }
  return Object.fromEntries(texts);
}

function textOf(given: ListWhere<object> | ParameterValue): string {
  if (typeof given !== "object") return String(given);
  return isList(given) ? given.join(",") : JSON.stringify(given);
}

function isList(
  given: ListWhere<object> | Extract<ParameterValue, object>,
): given is Extract<ParameterValue, object> {
  return Array.isArray(given);
}
