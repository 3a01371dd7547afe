import { checkQueryOptions } from "../api/check-options.ts";
import { queryError } from "../api/errors.ts";
import {
  type GivenQuery,
  type ParsedQuery,
  parseMaximum,
  parseQuery,
  selectionNames,
} from "./parse-query.ts";

const defaultLimit = 30;
const maxLimit = 10_000;
const pageNames = [...selectionNames, "total", "bounded"] as const;

/** A query of a page that was checked. */
export interface ParsedPage {
  readonly parsed: ParsedQuery;
  readonly limit: number;
  readonly total: number | "exact" | "none";
  readonly isBounded: boolean;
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
  const limit = parseMaximum("limit", query.limit ?? defaultLimit, maxLimit);
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
