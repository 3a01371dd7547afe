import type { RestResponse } from "@fetchwork/http";
import { isObject } from "@fetchwork/kit";
import { json } from "./description.ts";
import { ClientError } from "./errors.ts";

/** A successful response. */
export interface Result<T> {
  /** Its body. */
  readonly data: T;
  /** Status code, from 200 to 399. */
  readonly status: number;
  /** Version of the document, for `ifMatch` of the next change. */
  readonly etag: string | undefined;
  /** Address of what was created. */
  readonly location: string | undefined;
  /** Value of a header, its name in any case; `undefined` when there is none. */
  header(name: string): string | undefined;
}

/** One page of a list. */
export interface PageResult<T> extends Result<readonly T[]> {
  /** Number of matching documents, as far as counted; `undefined` where the API does not count. */
  readonly total: number | undefined;
  /** Whether more documents match than `total`. */
  readonly isTotalCapped: boolean;
  /** Parameters of the next page; `undefined` on the last one. */
  readonly next: Readonly<Record<string, string>> | undefined;
}

/** One page of a QUERY. */
export interface QueryResult<T, Query> extends Omit<PageResult<T>, "next"> {
  /** The query for the next page; `undefined` on the last one. */
  readonly next: Query | undefined;
}

/**
 * Reads a successful response: JSON, or the text of another type that is declared.
 *
 * @throws ClientError `ERR_REST_RESPONSE`
 */
export function resultOf(response: RestResponse, type: string = json): Result<unknown> {
  const isText = type !== json && response.header("content-type")?.startsWith(type);
  return {
    data: isText ? response.body : dataOf(response),
    status: response.statusCode,
    etag: response.header("etag"),
    location: response.header("location"),
    header: (name) => response.header(name),
  };
}

/**
 * Reads a successful response of a list: an array, or `{ rows, count }`.
 *
 * @throws ClientError `ERR_REST_RESPONSE`
 */
export function pageResultOf(response: RestResponse): PageResult<unknown> {
  const result = resultOf(response);
  const { data } = result;
  const { rows = data, count }: Readonly<Record<string, unknown>> = isObject(data) ? data : {};
  const isUnchanged = response.statusCode === 304;
  if (!isUnchanged && !Array.isArray(rows)) {
    throw new ClientError("ERR_REST_RESPONSE", "the response to a list must be an array");
  }
  const total = count ?? numberOf(response.header("x-total-count"));
  return {
    ...result,
    data: Array.isArray(rows) ? (rows as readonly unknown[]) : [],
    total: typeof total === "number" ? total : undefined,
    isTotalCapped: response.header("x-total-count-capped") === "true",
    next: nextOf(response.header("link")),
  };
}

/**
 * Reads a successful response to a QUERY.
 *
 * @throws ClientError `ERR_REST_RESPONSE`
 */
export function queryResultOf(response: RestResponse, query: object): QueryResult<unknown, object> {
  const page = pageResultOf(response);
  const [, name, number, text] =
    /^([A-Za-z][\w.-]*)=(?:(\d{1,15})|"([^"]*)")$/.exec(response.header("x-next-page") ?? "") ?? [];
  if (name === undefined) return { ...page, next: undefined };
  return { ...page, next: { ...query, [name]: number === undefined ? text : Number(number) } };
}

function dataOf(response: RestResponse): unknown {
  const { body, statusCode } = response;
  if (body === "" || statusCode === 204 || statusCode === 304) return undefined;
  try {
    return JSON.parse(body) as unknown;
  } catch {
    // The error of the parser shows a part of the response, which may be a token.
    throw new ClientError(
      "ERR_REST_RESPONSE",
      `the response with status ${statusCode} is not JSON`,
    );
  }
}

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Only the target's parameters count (RFC 8288); the next request goes to the same server. */
function nextOf(link: string | undefined): Readonly<Record<string, string>> | undefined {
  const target = link
    ?.split(/,(?=\s*<)/)
    .find((one) => /;\s*rel="?next"?\s*(?:;|$)/.test(one))
    ?.match(/<([^<>]*)>/)?.[1];
  const mark = target?.indexOf("?") ?? -1;
  if (target === undefined || mark < 0) return undefined;
  return Object.fromEntries(new URLSearchParams(target.slice(mark)));
}
