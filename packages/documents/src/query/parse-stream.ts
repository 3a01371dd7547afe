import type { StreamQuery } from "../api/reading/stream.ts";
import { optionNames } from "../option-names.ts";
import { type GivenQuery, parseMaximum, parseQuery, selectionNames } from "./parse-query.ts";

const knownOptions: ReadonlySet<string> = optionNames<StreamQuery<unknown>>({
  ...selectionNames,
  sort: true,
  limit: true,
  after: true,
  fields: true,
});

/**
 * Checks the query of a stream and returns the maximum number of documents.
 *
 * @internal
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`
 */
export function parseStream(query: GivenQuery): number {
  parseQuery(query, knownOptions);
  return query.limit === undefined ? Infinity : parseMaximum("limit", query.limit);
}
