import { queryError } from "../api/errors.ts";
import { type ParsedPath, parsePath } from "../api/field-path.ts";
import type { Deleted } from "../api/find-query.ts";
import type { ClaimQuery } from "../api/lease.ts";
import { foldedWords } from "../document/fold.ts";
import { isImplied, isShortWord, searchPattern } from "../document/search-text.ts";
import { type ParsedNear, parseNear } from "../geo/near.ts";
import { checkQueryOptions } from "../api/check-options.ts";
import { type Filter, parseFilter } from "./filter.ts";

/** A selection as it was given. */
export interface GivenSelection {
  readonly where?: unknown;
  readonly q?: unknown;
  readonly near?: unknown;
  readonly deleted?: unknown;
}

/** A query as it was given. */
export interface GivenQuery extends GivenSelection {
  readonly sort?: unknown;
  readonly limit?: unknown;
  readonly offset?: unknown;
  readonly after?: unknown;
  readonly fields?: unknown;
}

/** A selection that was checked. */
export interface ParsedSelection {
  readonly filter: Filter | undefined;
  /** Words that must each occur in the search text, see `searchPattern`. */
  readonly words: readonly string[];
  readonly near?: ParsedNear | undefined;
  readonly deleted: Deleted;
}

/** A query that was checked. */
export interface ParsedQuery extends ParsedSelection {
  readonly order: readonly OrderTerm[];
  readonly limit: number | undefined;
  readonly offset: number;
  /** A cursor, not yet read. */
  readonly after: string | undefined;
  readonly fields: readonly ParsedPath[] | undefined;
}

/** A query of a page that was checked. */
export interface ParsedPage {
  readonly parsed: ParsedQuery;
  readonly limit: number;
  readonly total: number | "exact" | "none";
  readonly isBounded: boolean;
}

/** A field to sort by. */
export interface OrderTerm {
  readonly path: ParsedPath;
  readonly descending: boolean;
}

/** Maximum length of `q`, in UTF-16 code units. */
export const maxSearchLength = 200;
const maxWords = 16;
const maxShortWords = 6;
const maxShortWordsAlone = 3;
const maxSortKeys = 16;
const maxFields = 200;
const defaultPage = 30;
const maxPage = 10_000;
const defaultExpiry = 60_000;
const maxExpiry = 86_400_000;
const maxClaimed = 1000;

/**
 * Checks what is to be counted, and up to where.
 *
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`
 */
export function parseCount(
  query: GivenSelection & { readonly max?: unknown },
): ParsedSelection & { readonly max: number | undefined } {
  checkQueryOptions("count", query, ["where", "q", "near", "deleted", "max"]);
  const max = query.max === undefined ? undefined : parseMaximum("max", query.max);
  return { ...parseSelection(query), max };
}

/**
 * Checks what selects documents.
 *
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`
 */
export function parseSelection(selection: GivenSelection): ParsedSelection {
  const { where, q, near, deleted = "exclude" } = selection;
  if (deleted !== "exclude" && deleted !== "include" && deleted !== "only") {
    throw queryError('"deleted" must be "exclude", "include" or "only"');
  }
  return {
    filter: where === undefined ? undefined : parseFilter(where),
    words: parseWords(q),
    near: near === undefined ? undefined : parseNear(near),
    deleted,
  };
}

/**
 * Checks a number of documents from 1, such as the one at which counting stops.
 *
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`
 */
export function parseMaximum(
  name: string,
  value: unknown,
  highest: number = Number.MAX_SAFE_INTEGER - 1,
): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 1 && value <= highest) {
    return value;
  }
  throw queryError(`"${name}" must be a whole number from 1 to ${highest}`);
}

/** Names of what selects documents, in the order in which messages list them. */
export const selectionNames: readonly (
  "where" | "q" | "near" | "deleted" | "sort" | "limit" | "after" | "fields"
)[] = ["where", "q", "near", "deleted", "sort", "limit", "after", "fields"];
const findNames = [...selectionNames, "offset"] as const;
const pageNames = [...selectionNames, "total", "bounded"] as const;

/**
 * Checks the query of `find`.
 *
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`
 */
export function parseFind(query: GivenQuery): ParsedQuery {
  checkQueryOptions("find", query, findNames);
  return parseQuery(query);
}

/**
 * Checks the query of a page.
 *
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`
 */
export function parsePage(
  query: GivenQuery & { readonly total?: unknown; readonly bounded?: unknown },
): ParsedPage {
  checkQueryOptions("page", query, pageNames);
  const parsed = parseQuery(query);
  const limit = parseMaximum("limit", query.limit ?? defaultPage, maxPage);
  const { total = "none", bounded = false } = query;
  if (typeof bounded !== "boolean") throw queryError('"bounded" must be true or false');
  const isNumber = total !== "exact" && total !== "none";
  return {
    parsed,
    limit,
    total: isNumber ? parseMaximum("total", total) : total,
    isBounded: bounded,
  };
}

/**
 * Checks the time for which a lease is given.
 *
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`
 */
export function parseExpiry(expiry: number | undefined): number {
  return parseMaximum("expiry", expiry ?? defaultExpiry, maxExpiry);
}

/**
 * Checks what selects documents to work on.
 *
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`
 */
export function parseClaim<T>(query: ClaimQuery<T>): {
  readonly query: ParsedQuery;
  readonly expiry: number;
} {
  checkQueryOptions("claim", query, ["where", "q", "sort", "limit", "expiry"]);
  const { where, q, sort } = query;
  const limit = parseMaximum("limit", query.limit ?? 1, maxClaimed);
  const expiry = parseExpiry(query.expiry);
  return { query: parseQuery({ where, q, sort, limit }), expiry };
}

/**
 * Checks the values of a query, whose names were checked.
 *
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`
 */
export function parseQuery(query: GivenQuery): ParsedQuery {
  const { after } = query;
  if (after !== undefined && typeof after !== "string")
    throw queryError('"after" must be a cursor');
  if (after !== undefined && query.offset !== undefined) {
    throw queryError('"after" and "offset" exclude one another');
  }
  const selection = parseSelection(query);
  return {
    ...selection,
    order:
      selection.near === undefined ? parseSort(query.sort) : orderBy(selection.near, query.sort),
    limit: parseNumber("limit", query.limit),
    offset: parseNumber("offset", query.offset) ?? 0,
    after,
    fields: query.fields === undefined ? undefined : parseFields(query.fields),
  };
}

function parseWords(q: unknown): readonly string[] {
  if (q === undefined) return [];
  if (typeof q !== "string") throw queryError('"q" must be a string', "q");
  if (q.length > maxSearchLength)
    throw queryError(`"q" is longer than ${maxSearchLength} characters`, "q");
  const words = foldedWords(q);
  if (words.length > maxWords) {
    throw queryError(`"q" has more than ${maxWords} different words`, "q");
  }
  // A word inside of another one does not count.
  const counted = words.filter(
    (word) => !words.some((other) => other !== word && other.includes(word)),
  );
  const short = counted.filter(isShortWord).length;
  if (short > (short < counted.length ? maxShortWords : maxShortWordsAlone)) {
    throw queryError(
      `"q" has too many words of one or two characters, expected at most ${maxShortWords} next to ` +
        `a longer word, or ${maxShortWordsAlone} alone`,
      "q",
    );
  }
  const patterns = words.map(searchPattern);
  return patterns.filter(
    (pattern) => !patterns.some((by) => by !== pattern && isImplied(pattern, { by })),
  );
}

function parseSort(sort: unknown): readonly OrderTerm[] {
  const keys: unknown = sort ?? [];
  if (!Array.isArray(keys)) throw queryError('"sort" must be a list of fields');
  if (keys.length > maxSortKeys) throw queryError(`"sort" has more than ${maxSortKeys} fields`);
  if (keys.length === 0) return defaultOrder;
  const order = keys.map((key: unknown): OrderTerm => {
    const descending = typeof key === "string" && key.startsWith("-");
    return { path: parsePath(descending ? key.slice(1) : key), descending };
  });
  if (!order.some(({ path }) => path.meta === "id")) {
    order.push({ path: idPath, descending: order.at(-1)?.descending ?? false });
  }
  return order;
}

/** The order by a distance, which no document holds: its term only tells cursors apart. */
function orderBy({ field, position }: ParsedNear, sort: unknown): readonly OrderTerm[] {
  if (sort !== undefined && !(Array.isArray(sort) && sort.length === 0)) {
    throw queryError('"near" sorts by the distance, so it excludes "sort"');
  }
  const text = JSON.stringify([field, position.latitude, position.longitude]);
  return [{ path: { text, segments: [], meta: undefined }, descending: false }, ascendingId];
}

function parseNumber(name: "limit" | "offset", value: unknown): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw queryError(`"${name}" must be a whole number from 0`);
}

function parseFields(fields: unknown): readonly ParsedPath[] {
  if (!Array.isArray(fields)) throw queryError('"fields" must be a list of fields');
  if (fields.length > maxFields) throw queryError(`"fields" has more than ${maxFields} fields`);
  return fields.map((field: unknown) => parsePath(field));
}

const idPath: ParsedPath = { text: "id", segments: ["id"], meta: "id" };

const ascendingId: OrderTerm = { path: idPath, descending: false };

const defaultOrder: readonly OrderTerm[] = [
  { path: { text: "createdAt", segments: ["createdAt"], meta: "createdAt" }, descending: true },
  { path: idPath, descending: true },
];
