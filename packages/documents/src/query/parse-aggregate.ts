import { queryError } from "../api/errors.ts";
import { type ParsedPath, parsePath } from "../api/field-path.ts";
import { isPlainObject } from "../is-plain-object.ts";
import { checkQueryOptions } from "../api/check-options.ts";
import {
  type GivenQuery,
  type GivenSelection,
  parseMaximum,
  type ParsedSelection,
  parseSelection,
} from "./parse-query.ts";

/** How the values of a field are summed up. */
export type Aggregate = "avg" | "max" | "min" | "sum";

/** A value of a group; none but the number of documents is of a field. */
export type ParsedValue =
  | { readonly kind: "count"; readonly name: string }
  | { readonly kind: Aggregate; readonly name: string; readonly path: ParsedPath };

/** Groups and what to compute of them. */
export interface ParsedAggregate extends ParsedSelection {
  readonly by: readonly ParsedPath[];
  readonly values: readonly ParsedValue[];
  /** Places in a group, in which the fields of `by` come before the values. */
  readonly order: readonly { readonly place: number; readonly descending: boolean }[];
  readonly limit: number;
}

/** A field whose different values are wanted. */
export interface ParsedDistinct extends ParsedSelection {
  readonly path: ParsedPath;
  readonly limit: number;
}

const maxFields = 8;
const maxValues = 32;
const maxSortKeys = 16;
const maxNameLength = 128;
const defaultLimit = 1000;
const maxLimit = 10_000;

/**
 * Checks what is to be computed of which groups.
 *
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`
 */
export function parseAggregate(
  query: Pick<GivenQuery, "limit" | "sort"> &
    GivenSelection & { readonly by?: unknown; readonly values?: unknown },
): ParsedAggregate {
  checkQueryOptions("aggregate", query, ["where", "q", "deleted", "by", "values", "sort", "limit"]);
  const by = parseBy(query.by);
  const values = parseValues(query.values);
  const names = [...by.map(({ text }) => text), ...values.map(({ name }) => name)];
  if (new Set(names).size < names.length) {
    throw queryError('a name of "values" or a field of "by" is used twice');
  }
  return {
    ...parseSelection(query),
    by,
    values,
    order: parseOrder(query.sort, names),
    limit: parseMaximum("limit", query.limit ?? defaultLimit, maxLimit),
  };
}

/**
 * Checks of which field the different values are wanted.
 *
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`
 */
export function parseDistinct(
  field: unknown,
  query: GivenSelection & Pick<GivenQuery, "limit">,
): ParsedDistinct {
  checkQueryOptions("distinct", query, ["where", "q", "deleted", "limit"]);
  const limit = parseMaximum("limit", query.limit ?? defaultLimit, maxLimit);
  return { ...parseSelection(query), path: parsePath(field), limit };
}

function parseBy(by: unknown): readonly ParsedPath[] {
  if (by === undefined) return [];
  const fields: readonly unknown[] = Array.isArray(by) ? by : [by];
  if (fields.length > maxFields) throw queryError(`"by" has more than ${maxFields} fields`);
  return fields.map((field) => parsePath(field));
}

function parseValues(values: unknown): readonly ParsedValue[] {
  const entries = isPlainObject(values) ? Object.entries(values) : [];
  if (entries.length === 0 || entries.length > maxValues) {
    throw queryError(`"values" must be an object with 1 to ${maxValues} values`);
  }
  return entries.map(([name, value]) => parseValue(name, value));
}

function parseValue(name: string, value: unknown): ParsedValue {
  if (name === "" || name.length > maxNameLength || name.startsWith("-")) {
    throw queryError(
      `a name of "values" must have 1 to ${maxNameLength} characters and not begin with "-"`,
    );
  }
  if (value === "count") return { kind: "count", name };
  const [[kind, field] = [], ...others] = isPlainObject(value) ? Object.entries(value) : [];
  if (others.length === 0 && kind !== undefined && isAggregate(kind)) {
    return { kind, name, path: parsePath(field) };
  }
  throw queryError(
    `a value must be "count" or one of { sum }, { avg }, { min } and { max } with a field`,
  );
}

function parseOrder(sort: unknown, names: readonly string[]): ParsedAggregate["order"] {
  const keys: unknown = sort ?? [];
  if (!Array.isArray(keys)) throw queryError('"sort" must be a list of names');
  if (keys.length > maxSortKeys) throw queryError(`"sort" has more than ${maxSortKeys} names`);
  return keys.map((key: unknown) => {
    const descending = typeof key === "string" && key.startsWith("-");
    const name = descending ? key.slice(1) : key;
    const place = names.findIndex((each) => each === name);
    if (place === -1) throw queryError('"sort" has a name that is neither in "values" nor in "by"');
    return { place, descending };
  });
}

function isAggregate(kind: string): kind is Aggregate {
  return kind === "avg" || kind === "max" || kind === "min" || kind === "sum";
}
