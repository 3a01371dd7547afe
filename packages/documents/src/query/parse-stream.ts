import { checkQueryOptions } from "../api/check-options.ts";
import { type GivenQuery, parseMaximum, parseQuery, selectionNames } from "./parse-query.ts";

/**
 * Checks the query of a stream and returns the maximum number of documents.
 *
 * @internal
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`
 */
export function parseStream(query: GivenQuery): number {
  checkQueryOptions("stream", query, selectionNames);
  parseQuery(query);
  return query.limit === undefined ? Infinity : parseMaximum("limit", query.limit);
}
