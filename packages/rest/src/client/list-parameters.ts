/** A value of a query parameter; a list is sent with commas between its members. */
export type ParameterValue = string | number | boolean | readonly (string | number | boolean)[];

/** Parameters of a query. `undefined` counts as not given. */
export type ParameterValues = Readonly<Record<string, ParameterValue | undefined>>;

/** Operators of a filter, as in `"stars[gte]"`. */
export type FilterOperator =
  "eq" | "ne" | "gt" | "gte" | "lt" | "lte" | "in" | "nin" | "exists" | "prefix" | "contains";

type FieldOf<D> = Extract<keyof D, string>;

/** Names of fields, each with or without a `-` before it. */
type Signed<Name extends string> = Name | `-${Name}`;

/** One name or several. */
type Names<Name extends string> = Name | readonly Name[];

/** What a field is compared with: a value, `null` for none, or values by operator. */
export type WhereValue =
  | boolean
  | number
  | string
  | null
  | { readonly [K in FilterOperator]?: ParameterValue | undefined };

/** A filter of several fields of `D`; all members must hold, and of `or` one. */
export type ListWhere<D> = { readonly [K in FieldOf<D>]?: WhereValue | undefined } & {
  readonly and?: readonly ListWhere<D>[] | undefined;
  readonly or?: readonly ListWhere<D>[] | undefined;
  readonly not?: ListWhere<D> | undefined;
};

/**
 * Parameters of a list of `D`. Which fields filter and sort is the API's to say; others are a 400. A resource's own
 * parameters go into the option `query`.
 */
export type ListParameters<D> = {
  /** Words that must occur: from 3 characters on parts of words, below beginnings of words. */
  readonly q?: string | undefined;
  /** Number of the page, from 1. */
  readonly page?: number | undefined;
  /** Documents on a page, 1 to 100. */
  readonly limit?: number | undefined;
  /** Cursor of the page before. */
  readonly after?: string | undefined;
  /** Fields to sort by; `-` reverses. With `q`, `"-relevance"` alone sorts by how well documents match. */
  readonly sort?: Names<Signed<FieldOf<D>>> | "-relevance" | undefined;
  /** Fields to show, or with `-` to leave out. */
  readonly fields?: Names<Signed<FieldOf<D>>> | undefined;
  /** A filter with `and`, `or` and `not`, of fields that filter. */
  readonly where?: ListWhere<D> | undefined;
  /** Paths of relations whose documents are put in the place of their identifiers. */
  readonly populate?: string | readonly string[] | undefined;
} & { readonly [K in FieldOf<D>]?: ParameterValue | undefined } & {
  readonly [K in `${FieldOf<D>}[${FilterOperator}]`]?: ParameterValue | undefined;
};

/** Makes parameters of texts; what is not given is left out. */
export function queryTexts(
  ...sources: readonly (object | undefined)[]
): Readonly<Record<string, string>> {
  const texts = new Map<string, string>();
  for (const source of sources) {
    for (const [name, value] of Object.entries(source ?? {})) {
      // What the types of all sources say.
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
