import type { ClaimQuery } from "../api/lease.ts";
import { checkQueryOptions } from "../api/check-options.ts";
import { type ParsedQuery, parseMaximum, parseQuery } from "./parse-query.ts";

const defaultExpiry = 60_000;
const maxExpiry = 86_400_000;

/**
 * Checks the time for which a lease is given.
 *
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`
 */
export function parseExpiry(expiry: number | undefined): number {
  return parseMaximum("expiry", expiry ?? defaultExpiry, maxExpiry);
}

const maxClaimed = 1000;

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
