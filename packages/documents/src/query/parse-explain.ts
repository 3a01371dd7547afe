import { optionError } from "../api/errors.ts";
import type { ExplainOptions } from "../api/explanation.ts";
import { checkOptions } from "../api/check-options.ts";
import { parseAggregate, type ParsedAggregate } from "./parse-aggregate.ts";
import { parsePage } from "./parse-page.ts";
import {
  type GivenQuery,
  parseCount,
  type ParsedQuery,
  type ParsedSelection,
  parseFind,
} from "./parse-query.ts";

/** Query to plan: the first page, since those after it cost the same. */
export interface Explained {
  readonly find?: { readonly query: ParsedQuery; readonly after: undefined } | undefined;
  readonly groups?: ParsedAggregate | undefined;
  readonly count?: (ParsedSelection & { readonly max: number | undefined }) | undefined;
}

/**
 * Checks a query as its method does.
 *
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`
 * @throws {DocumentsTypeError} `ERR_DOCUMENTS_OPTIONS`
 */
export function parseExplain(query: GivenQuery, options: ExplainOptions): Explained {
  checkOptions("explain", options, ["method"]);
  const { method = "find" } = options;
  switch (method) {
    case "find":
      return { find: { query: parseFind(query), after: undefined } };
    case "count":
      return { count: parseCount(query) };
    case "aggregate":
      return { groups: parseAggregate(query) };
    case "page": {
      const { parsed, limit, total } = parsePage(query);
      const max = typeof total === "number" ? total + 1 : undefined;
      return {
        find: { query: { ...parsed, limit: limit + 1 }, after: undefined },
        count: total === "none" ? undefined : { ...parsed, max },
      };
    }
    default:
      throw optionError('"method" must be "find", "page", "count" or "aggregate"');
  }
}
