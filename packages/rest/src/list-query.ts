import { fieldError, type FieldError } from "./field-error.ts";
import { badFields } from "./problem.ts";

/** What the parameters of a list may ask for. */
export interface ListRules {
  /** Fields that `sort` may name. */
  readonly sortable: readonly string[];
  /** Fields that `fields` may name. */
  readonly selectable: readonly string[];
  /** Order without `sort`, in the form of `sort`. */
  readonly defaultSort: readonly string[];
}

/** A validated list query. */
export interface ListQuery {
  /** Words to search for. */
  readonly q: string | undefined;
  /** Number of the page, from 1. */
  readonly page: number;
  /** Documents on a page, from 1 to 100. */
  readonly limit: number;
  /** Fields to sort by; a leading `-` reverses the order. */
  readonly sort: readonly string[];
  /** Fields to show, or `undefined` for all. */
  readonly fields: readonly string[] | undefined;
}

/** Documents on a page when `limit` is not given. */
export const defaultLimit = 30;

/** Most documents on a page. */
export const maxLimit = 100;

/** Longest search text, in characters; the time of a search grows with it. */
export const maxSearchLength = 200;

/** Page numbers beyond this would leave the safe integers when multiplied with a limit. */
const maxPage = Math.floor(Number.MAX_SAFE_INTEGER / maxLimit);

/**
 * Reads the parameters `q`, `page`, `limit`, `sort` and `fields` of a list.
 *
 * An empty value counts as not given; other parameters are left to the route.
 *
 * @throws Problem 400 that names every parameter which is repeated or out of its range.
 */
export function parseListQuery(parameters: URLSearchParams, rules: ListRules): ListQuery {
  const errors: FieldError[] = [];
  const query: ListQuery = {
    q: searchText(single(parameters, "q", errors), errors),
    page: positiveInteger(parameters, { name: "page", max: maxPage }, errors) ?? 1,
    limit: positiveInteger(parameters, { name: "limit", max: maxLimit }, errors) ?? defaultLimit,
    sort: sortKeys(names(parameters, "sort"), rules, errors),
    fields: selection(names(parameters, "fields"), rules.selectable, errors),
  };
  if (errors.length > 0) throw badFields(errors);
  return query;
}

function single(
  parameters: URLSearchParams,
  name: string,
  errors: FieldError[],
): string | undefined {
  const values = parameters.getAll(name);
  if (values.length > 1) errors.push(fieldError(name, "once", `${name} must be given once`));
  return values[0] === "" ? undefined : values[0];
}

/** A comma-separated list, which may also be given as a repeated parameter. */
function names(parameters: URLSearchParams, name: string): readonly string[] {
  return parameters
    .getAll(name)
    .flatMap((value) => value.split(","))
    .map((value) => value.trim())
    .filter((value) => value !== "");
}

function searchText(q: string | undefined, errors: FieldError[]): string | undefined {
  if (q !== undefined && q.length > maxSearchLength) {
    const message = `q must have length lower than or equal to ${maxSearchLength}`;
    errors.push(fieldError("q", "maxlength", message));
  }
  return q;
}

function positiveInteger(
  parameters: URLSearchParams,
  { name, max }: { readonly name: string; readonly max: number },
  errors: FieldError[],
): number | undefined {
  const value = single(parameters, name, errors);
  if (value === undefined) return undefined;
  const number = Number(value);
  if (!(number >= 1)) {
    errors.push(fieldError(name, "min", `${name} must be greater than or equal to 1`));
  } else if (number > max) {
    errors.push(fieldError(name, "max", `${name} must be lower than or equal to ${max}`));
  } else if (!Number.isInteger(number)) {
    errors.push(fieldError(name, "type", `${name} must be of type integer`));
  }
  return number;
}

function sortKeys(
  asked: readonly string[],
  rules: ListRules,
  errors: FieldError[],
): readonly string[] {
  if (asked.length === 0) return rules.defaultSort;
  const keys: string[] = [];
  for (const key of asked) {
    const { name, minus } = signed(key);
    if (!rules.sortable.includes(name)) {
      errors.push(fieldError("sort", "enum", `sort must be one of: ${rules.sortable.join(", ")}`));
      return keys;
    }
    if (!keys.some((other) => signed(other).name === name)) keys.push(minus ? `-${name}` : name);
  }
  return keys;
}

/** Fields to include, or all but those to exclude; `id` stays unless it is excluded by name. */
function selection(
  asked: readonly string[],
  selectable: readonly string[],
  errors: FieldError[],
): readonly string[] | undefined {
  if (asked.length === 0) return undefined;
  const included = new Set<string>();
  const excluded = new Set<string>();
  for (const key of asked) {
    const { name, minus } = signed(key);
    if (!selectable.includes(name)) {
      const message = `fields must be one of: ${selectable.join(", ")}`;
      errors.push(fieldError("fields", "enum", message));
      return undefined;
    }
    (minus ? excluded : included).add(name);
  }
  const excludesOthers = [...excluded].some((name) => name !== "id");
  if (included.size > 0 && excludesOthers) {
    const message = "fields must either include or exclude, not both";
    errors.push(fieldError("fields", "mixed", message));
    return undefined;
  }
  if (included.size > 0) included.add("id");
  const base = included.size > 0 ? selectable.filter((name) => included.has(name)) : selectable;
  return base.filter((name) => !excluded.has(name));
}

function signed(key: string): { readonly name: string; readonly minus: boolean } {
  const minus = key.startsWith("-");
  return { name: minus || key.startsWith("+") ? key.slice(1) : key, minus };
}
