import type { UntypedWhere } from "@fetchwork/documents";
import { accessTokenField } from "./access-token.ts";
import { fieldError, type FieldError } from "./field-error.ts";
import { filterParameters, maxFilters, type FilterField } from "./filter-parameters.ts";
import { compileListParameter, type ListParameter } from "./list-parameter.ts";
import { readNear, type Near } from "./near.ts";
import { badFields } from "./problem.ts";
import { readFields, readSort, signed, type NamedFields } from "./sort-and-fields.ts";
import { unknownParameters } from "./unknown-parameters.ts";

/** The parameters that lists have without being told. */
export type StandardParameter =
  | "after"
  | "fields"
  | "limit"
  | "max_distance"
  | "min_distance"
  | "near"
  | "page"
  | "q"
  | "sort"
  | "trash";

/** Other names of standard parameters; `false` for one that the list does not have. */
export type ParameterNames = Readonly<Partial<Record<StandardParameter, string | false>>>;

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
  readonly near: Near | undefined;
  /** Whether to list removed documents only, or too. */
  readonly trash: "only" | "with" | undefined;
}

/** Documents on a page when `limit` is not given. */
export const defaultLimit = 30;

/** Most documents on a page. */
export const maxLimit = 100;

/** Longest search text, in characters; the time of a search grows with it. */
export const maxSearchLength = 200;

/** Longest cursor, in characters. */
const maxCursorLength = 4_096;

/** Reads the query of a list; a {@link Problem} of status 400 names everything that is wrong with it. */
export type ListReader = (parameters: URLSearchParams) => ListQuery;

/** What a reader finds in a query, parameter by parameter. */
interface Given {
  readonly errors: FieldError[];
  /** The one value of a standard parameter, empty or not. */
  raw(name: StandardParameter): string | undefined;
  /** The one value of a standard parameter, unless it is empty. */
  one(name: StandardParameter): string | undefined;
  /** All values of a standard parameter, taken apart at commas. */
  list(name: StandardParameter): readonly string[];
}

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

/** Names a standard parameter as clients know it; `undefined` when the list does not have it. */
export function nameOf(parameter: StandardParameter, rules: ListRules): string | undefined {
  const { geo, names = {}, searchable = true, trash = false } = rules;
  if (parameter === "q" && !searchable) return undefined;
  if (parameter === "trash" && !trash) return undefined;
  const isPlace = ["near", "min_distance", "max_distance"].includes(parameter);
  if (isPlace && geo === undefined) return undefined;
  const name = names[parameter] ?? parameter;
  return name === false ? undefined : name;
}

function makeReader(
  rules: ListRules,
  { refusesUnknown }: { readonly refusesUnknown: boolean },
): ListReader {
  const { parameters = {} } = rules;
  const names = new Map(
    standardParameters.flatMap((parameter) => {
      const name = nameOf(parameter, rules);
      return name === undefined ? [] : [[parameter, name] as const];
    }),
  );
  const filters = filterParameters(rules.filters ?? []);
  const custom = Object.entries(parameters).map(([name, one]) => compileListParameter(name, one));
  const known = new Set([
    ...names.values(),
    ...filters.keys(),
    ...custom.map(({ name }) => name),
    accessTokenField,
  ]);

  const plain = custom.length === 0 ? read(new URLSearchParams()) : undefined;
  return (query) => (query.size === 0 && plain ? plain : read(query));

  function read(query: URLSearchParams): ListQuery {
    const errors: FieldError[] = [];
    if (refusesUnknown && query.size > 0) {
      errors.push(...unknownParameters([...query.keys()].filter((name) => !known.has(name))));
    }
    const given = givenIn(query, names, errors);
    const standard = readStandard(given, rules, names);
    const conditions = [...readFilters(query), ...readCustom(query)];
    if (errors.length > 0) throw badFields(errors);
    return { ...standard, where: conditions.length > 1 ? { and: conditions } : conditions[0] };

    function* readFilters(from: URLSearchParams): Generator<UntypedWhere> {
      if (filters.size === 0 || from.size === 0) return;
      const seen = new Set<string>();
      for (const [name, text] of from) {
        const filter = filters.get(name);
        if (!filter) continue;
        if (seen.has(name)) {
          errors.push(once(name));
          return;
        }
        seen.add(name);
        if (seen.size > maxFilters) {
          const message = `a list takes at most ${maxFilters} filters`;
          errors.push(fieldError(name, "maxlength", message));
          return;
        }
        const read = filter.read(text);
        if ("where" in read) yield read.where;
        else errors.push(read);
      }
    }

    function* readCustom(from: URLSearchParams): Generator<UntypedWhere> {
      for (const { name, read } of custom) {
        const values = from.getAll(name);
        if (values.length > 1) errors.push(once(name));
        const result = read(values[0]);
        if (!("where" in result)) errors.push(...result);
        else if (result.where !== undefined) yield result.where;
      }
    }
  }
}

const standardParameters: readonly StandardParameter[] = [
  "q",
  "page",
  "limit",
  "after",
  "sort",
  "fields",
  "near",
  "min_distance",
  "max_distance",
  "trash",
];

function givenIn(
  query: URLSearchParams,
  names: ReadonlyMap<StandardParameter, string>,
  errors: FieldError[],
): Given {
  const valuesOf = (parameter: StandardParameter): readonly string[] => {
    const name = names.get(parameter);
    return name === undefined || query.size === 0 ? [] : query.getAll(name);
  };
  const raw = (parameter: StandardParameter): string | undefined => {
    const values = valuesOf(parameter);
    if (values.length > 1) errors.push(once(names.get(parameter) ?? parameter));
    return values[0];
  };
  return {
    errors,
    raw,
    one: (parameter) => raw(parameter) || undefined,
    list: (parameter) =>
      valuesOf(parameter)
        .flatMap((value) => value.split(","))
        .map((value) => value.trim())
        .filter((value) => value !== ""),
  };
}

function readStandard(
  given: Given,
  rules: ListRules,
  names: ReadonlyMap<StandardParameter, string>,
): Omit<ListQuery, "where"> {
  const { errors } = given;
  const { defaultLimit: usual = defaultLimit, maxLimit: most = maxLimit, geo } = rules;
  const called = (parameter: StandardParameter): string => names.get(parameter) ?? parameter;
  const q = readText(given.one("q"), { name: called("q"), max: maxSearchLength }, errors);
  const pageText = given.one("page");
  // Page numbers beyond this would leave the safe integers when multiplied with a limit.
  const maxPage = Math.floor(Number.MAX_SAFE_INTEGER / most);
  const page = readInteger(pageText, { name: called("page"), max: maxPage }, errors) ?? 1;
  const limit = readInteger(given.one("limit"), { name: called("limit"), max: most }, errors);
  const after = readCursor(given, called("after"));
  const sorts = given.list("sort");
  const sort = readSort(sorts, { name: called("sort"), rules }, errors);
  const fields = readFields(given.list("fields"), { name: called("fields"), rules }, errors);
  const near = geo === undefined ? undefined : readNear(given, { field: geo, called });
  if (near && sorts.length > 0) {
    const message = `${called("sort")} and ${called("near")} exclude one another`;
    errors.push(fieldError(called("sort"), "mixed", message));
  }
  if (after !== undefined && pageText !== undefined) {
    const message = `${called("page")} and ${called("after")} exclude one another`;
    errors.push(fieldError(called("page"), "mixed", message));
  }
  // The cursor holds the values of the fields that were sorted by, readable for everyone.
  const unseen = (near ? [] : sort).find((key) => !isShown(signed(key).name, rules));
  if (after !== undefined && unseen !== undefined) {
    const message = `${called("after")} is not possible in the order of ${signed(unseen).name}`;
    errors.push(fieldError(called("after"), "invalid", message));
  }
  // A list without numbered pages is paged by cursors from the start.
  const begins = !names.has("page") && names.has("after") && unseen === undefined;
  const trash = readTrash(given.one("trash"), called("trash"), errors);
  return {
    q,
    page,
    limit: limit ?? usual,
    after: after ?? (begins ? "" : undefined),
    sort,
    fields,
    near,
    trash,
  };
}

function isShown(field: string, { selectable }: ListRules): boolean {
  return selectable.includes(field) || ["id", "createdAt", "updatedAt"].includes(field);
}

function once(name: string): FieldError {
  return fieldError(name, "once", `${name} must be given once`);
}

function readText(
  text: string | undefined,
  { name, max }: { readonly name: string; readonly max: number },
  errors: FieldError[],
): string | undefined {
  if (text !== undefined && text.length > max) {
    const message = `${name} must have length lower than or equal to ${max}`;
    errors.push(fieldError(name, "maxlength", message));
  }
  return text;
}

function readInteger(
  value: string | undefined,
  { name, max }: { readonly name: string; readonly max: number },
  errors: FieldError[],
): number | undefined {
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

/** Without a value it is there all the same: that is how paging by cursors begins. */
function readCursor(given: Given, name: string): string | undefined {
  const { errors } = given;
  const text = given.raw("after");
  return readText(text, { name, max: maxCursorLength }, errors);
}

function readTrash(
  text: string | undefined,
  name: string,
  errors: FieldError[],
): "only" | "with" | undefined {
  if (text === undefined || text === "only" || text === "with") return text;
  errors.push(fieldError(name, "enum", `${name} must be one of: only, with`));
  return undefined;
}
