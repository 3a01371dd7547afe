import type { PageQuery } from "../api/page.ts";
import { optionNames } from "../option-names.ts";
import { type ParsedQuery, parseMaximum, parseQuery, SELECTION_NAMES } from "./parse-query.ts";

const OPTIONS: ReadonlySet<string> = optionNames<PageQuery<unknown>>({
  ...SELECTION_NAMES,
  sort: true,
  limit: true,
  after: true,
  fields: true,
  total: true,
});
const DEFAULT_LIMIT = 30;
const MAX_LIMIT = 10_000;

/**
 * Checks the query of a page.
 *
 * @internal
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`
 */
export function parsePage<T>(query: PageQuery<T>): {
  readonly parsed: ParsedQuery;
  readonly limit: number;
  readonly total: number | "exact" | "none";
} {
  const parsed = parseQuery(query, OPTIONS);
  const limit = parseMaximum("limit", query.limit ?? DEFAULT_LIMIT, MAX_LIMIT);
  const { total = "none" } = query;
  if (total !== "exact" && total !== "none") parseMaximum("total", total);
  return { parsed, limit, total };
}
