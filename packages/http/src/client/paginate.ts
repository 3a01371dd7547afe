import type { StandardSchema } from "@fetchwork/kit";
import { checkOptions } from "../check-options.ts";
import { HttpError, HttpUsageError } from "../errors.ts";
import { amount, optionError } from "../option-values.ts";
import { resolveTarget } from "./redirect.ts";
import { addQueryParameters, type QueryParameters } from "./request/add-query-parameters.ts";
import type { RequestObject } from "./request/build-request-object.ts";
import { nextLink } from "./response/link-header.ts";
import { ResponseError } from "./response/response-error.ts";
import type { RestResponse } from "./response/rest-response.ts";
import { policyNames, type SendOptions } from "./send-options.ts";
import { redactUrl } from "./transport/redact-url.ts";

/** Options of `paginate`; those of `send` count for each page. */
export interface PaginateOptions<Page, Item> extends SendOptions {
  /** Checks and types the body of each page. Default: none; the caller claims the type. */
  readonly schema?: StandardSchema<unknown, Page> | undefined;
  /** Returns the items of a page. Default: the page itself, which must be a list. */
  readonly items?: ((page: Page, response: RestResponse) => Iterable<Item>) | undefined;
  /**
   * Returns where the next page is: a URL, relative to that of the page; or query parameters, such
   * as a cursor, that replace those of the page. `undefined`, `null`, `false` and `""`: there is
   * none. Default: the link `rel="next"` of the header `Link` (RFC 8288).
   */
  readonly next?:
    | ((page: Page, response: RestResponse) => string | QueryParameters | false | null | undefined)
    | undefined;
  /** Maximum number of pages; one more is an error. Default: `10_000`. */
  readonly maxPages?: number | undefined;
}

/** An item of a page that is a list. */
export type ItemOf<Page> = Page extends readonly (infer Item)[] ? Item : unknown;

/** Options that are checked. */
export interface Pagination<Page, Item> {
  readonly schema: StandardSchema<unknown, Page> | undefined;
  readonly items: (page: Page, response: RestResponse) => Iterable<Item>;
  readonly next: NonNullable<PaginateOptions<Page, Item>["next"]>;
  readonly maxPages: number;
  readonly sending: SendOptions;
}

/** Checks options. */
export function paginationOf<Page, Item>(
  options: PaginateOptions<Page, Item>,
): Pagination<Page, Item> {
  checkOptions<PaginateOptions<Page, Item>>("paginate", options, [
    ...policyNames,
    "signal",
    "schema",
    "items",
    "next",
    "maxPages",
  ]);
  const { schema, items = listOf, next = linkOf, maxPages = 10_000, ...sending } = options;
  if (schema !== undefined && typeof schema?.["~standard"]?.validate !== "function") {
    throw optionError("schema", schema, "a Standard Schema");
  }
  if (typeof items !== "function") throw optionError("items", items, "a function");
  if (typeof next !== "function") throw optionError("next", next, "a function");
  return { schema, items, next, maxPages: amount(maxPages, "maxPages"), sending };
}

/** A page, and the request that led to it. */
export interface ReceivedPage {
  readonly response: RestResponse;
  readonly request: RequestObject;
}

/**
 * Sends a request and the ones after it, each when the items before it were taken.
 *
 * @yields the items of each page
 */
export async function* eachItem<Page, Item>(
  first: RequestObject,
  { schema, items, next, maxPages }: Pagination<Page, Item>,
  exchange: (request: RequestObject) => Promise<ReceivedPage>,
): AsyncGenerator<Item, void, undefined> {
  const seen = new Set<string>();
  let request: RequestObject | undefined = first;
  while (request !== undefined) {
    if (seen.size >= maxPages) throw failure(`there are more than ${maxPages} pages`, request.url);
    seen.add(request.url.href);
    const received: ReceivedPage = await exchange(request);
    const { response } = received;
    if (!response.ok) throw new ResponseError(response, received.request);
    seen.add(received.request.url.href);
    if (response.statusCode === 204) return;
    const page = schema === undefined ? response.json<Page>() : await response.json<Page>(schema);
    yield* items(page, response);
    const place = next(page, response);
    request = place ? nextRequest(received.request, place) : undefined;
    // A list whose end leads back to a page of it has been read.
    if (request !== undefined && seen.has(request.url.href)) return;
  }
}

/** The same request with another URL of the same origin: no other gets credentials or cookies. */
function nextRequest(last: RequestObject, place: string | QueryParameters): RequestObject {
  const url =
    typeof place === "string" ? resolveTarget(place, last.url) : replaceQuery(last.url, place);
  if (url?.origin !== last.url.origin) {
    throw failure("the next page is not a URL of the same origin", last.url);
  }
  if (last.body instanceof ReadableStream) {
    throw new HttpUsageError("ERR_HTTP_BODY", "the next page needs the body again: it is a stream");
  }
  return { ...last, url };
}

function replaceQuery(last: URL, parameters: QueryParameters): URL {
  const url = new URL(last);
  for (const name of Object.keys(parameters)) url.searchParams.delete(name);
  return new URL(addQueryParameters(url.href, parameters));
}

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- it is that of the caller
function listOf<Item>(page: unknown): readonly Item[] {
  // Without `items`, the type of an item is that of a member of the list.
  if (Array.isArray(page)) return page as readonly Item[];
  throw new HttpError(
    "ERR_HTTP_PAGE",
    `paginate: the page must be a list, got ${page === null ? "null" : typeof page}; option items reads one from it`,
  );
}

function linkOf(_page: unknown, response: RestResponse): string | undefined {
  const field = response.header("link");
  return field === undefined ? undefined : nextLink(field);
}

function failure(problem: string, url: URL): HttpError {
  return new HttpError("ERR_HTTP_PAGE", `paginate: ${problem}, after ${redactUrl(url)}`);
}
