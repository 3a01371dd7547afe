import type { UntypedWhere } from "@fetchwork/documents";
import { accessTokenField } from "./access-token.ts";
import { fieldError, type FieldError } from "./field-error.ts";
import { filterParameters, maxFilters, type FilterField } from "./filter-parameters.ts";
import { compileListParameter, type ListParameter } from "./list-parameter.ts";
import type { NearPoint } from "./near.ts";
import { badFields } from "./problem.ts";
import type { NamedFields } from "./sort-and-fields.ts";
import {
  calledParameters,
  once,
  readStandard,
  type GivenValues,
  type ParameterNames,
} from "./standard-parameters.ts";
import { unknownParameters } from "./unknown-parameters.ts";

/** What the parameters of a list may ask for. */
export interface ListRules extends NamedFields {
  /** Whether there is `q`. Default: `true`. */
  readonly searchable?: boolean | undefined;
  /** Fields to filter by. Default: none. */
  readonly filters?: readonly FilterField[] | undefined;
  /** Documents on a page without `limit`. Default: `30`. */
  readonly defaultLimit?: number | undefined;
  /** Most documents on a page. Default: `100`. */
  readonly maxLimit?: number | undefined;
  /** Field with a place on Earth, for `near`, `min_distance` and `max_distance`. Default: none of them. */
  readonly geo?: string | undefined;
  /** Whether there is `trash`. Default: `false`. */
  readonly trash?: boolean | undefined;
  /** Other names of the standard parameters. Default: as they are. */
  readonly names?: ParameterNames | undefined;
  /** Parameters of one's own by name. Default: none. */
  readonly parameters?: Readonly<Record<string, ListParameter>> | undefined;
}

/** A validated list query. */
export interface ListQuery {
  /** Words to search for. */
  readonly q: string | undefined;
  /** Number of the page, from 1. */
  readonly page: number;
  /** Documents on a page, from 1 to 100 unless the rules say otherwise. */
  readonly limit: number;
  /**
   * Cursor to begin behind; `""` begins paging by cursors, as a list without `page` always does; `undefined` pages by
   * numbers.
   */
  readonly after: string | undefined;
  /** Fields to sort by; a leading `-` reverses the order. */
  readonly sort: readonly string[];
  /** Fields to show, or `undefined` for all. */
  readonly fields: readonly string[] | undefined;
  /** What filters and parameters of one's own demand. */
  readonly where: UntypedWhere | undefined;
  /** Place to begin with, nearest first. */
  readonly near: NearPoint | undefined;
  /** Whether to list removed documents only, or too. */
  readonly trash: "only" | "with" | undefined;
}

/** Reads the query of a list; a {@link Problem} of status 400 names everything that is wrong with it. */
export type ListReader = (parameters: URLSearchParams) => ListQuery;

/**
 * Reads the parameters of a list.
 *
 * An empty value of a standard parameter counts as not given, but `after` without one begins paging by cursors. Other
 * parameters are left to the route.
 *
 * @throws Problem 400 that names every parameter which is repeated or out of its range.
 */
export function parseListQuery(parameters: URLSearchParams, rules: ListRules): ListQuery {
  let reader = lenientReaders.get(rules);
  if (!reader) {
    reader = makeReader(rules, { refusesUnknown: false });
    lenientReaders.set(rules, reader);
  }
  return reader(parameters);
}

const lenientReaders = new WeakMap<ListRules, ListReader>();

/** Prepares everything about the parameters of a list that no request changes. Unknown parameters are refused. */
export function createListReader(rules: ListRules): ListReader {
  return makeReader(rules, { refusesUnknown: true });
}

function makeReader(
  rules: ListRules,
  { refusesUnknown }: { readonly refusesUnknown: boolean },
): ListReader {
  const names = calledParameters(rules);
  const filters = filterParameters(rules.filters ?? []);
  const custom = Object.entries(rules.parameters ?? {}).map(([name, one]) =>
    compileListParameter(name, one),
  );
  const known = new Set([
    ...names.values(),
    ...filters.keys(),
    ...custom.map(({ name }) => name),
    accessTokenField,
  ]);
  const plain = custom.length === 0 ? read(new URLSearchParams()) : undefined;
  return (query) => (query.size === 0 && plain ? plain : read(query));

  function read(query: URLSearchParams): ListQuery {
    const values = valuesIn(query);
    const errors: FieldError[] = [];
    if (refusesUnknown) refuseUnknown(values, errors);
    const standard = readStandard(values, { rules, names, errors });
    const conditions: UntypedWhere[] = [];
    if (filters.size > 0) readFilters(values, conditions, errors);
    if (custom.length > 0) readCustom(values, conditions, errors);
    if (errors.length > 0) throw badFields(errors);
    return { ...standard, where: conditions.length > 1 ? { and: conditions } : conditions[0] };
  }

  function refuseUnknown(values: GivenValues, errors: FieldError[]): void {
    const unknown: string[] = [];
    for (const name of values.keys()) if (!known.has(name)) unknown.push(name);
    if (unknown.length > 0) errors.push(...unknownParameters(unknown));
  }

  function readFilters(values: GivenValues, found: UntypedWhere[], errors: FieldError[]): void {
    let count = 0;
    for (const [name, [text = "", ...others]] of values) {
      const filter = filters.get(name);
      if (!filter) continue;
      count += 1;
      if (count > maxFilters) {
        const message = `a list takes at most ${maxFilters} filters`;
        errors.push(fieldError(name, "maxlength", message));
        return;
      }
      const condition = others.length > 0 ? once(name) : filter.read(text);
      if ("where" in condition) found.push(condition.where);
      else errors.push(condition);
    }
  }

  function readCustom(values: GivenValues, found: UntypedWhere[], errors: FieldError[]): void {
    for (const { name, read: readOne } of custom) {
      const [text, ...others] = values.get(name) ?? [];
      if (others.length > 0) errors.push(once(name));
      const result = readOne(text);
      if (!("where" in result)) errors.push(...result);
      else if (result.where !== undefined) found.push(result.where);
    }
  }
}

/** Takes the parameters apart once, however many are looked for. */
function valuesIn(query: URLSearchParams): GivenValues {
  const values = new Map<string, string[]>();
  for (const [name, value] of query) {
    const known = values.get(name);
    if (known) known.push(value);
    else values.set(name, [value]);
  }
  return values;
}
