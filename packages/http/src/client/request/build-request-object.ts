import { checkOptions } from "../../check-options.ts";
import { addQueryParameters, type QueryParameters } from "./add-query-parameters.ts";
import { encodeBody, type EncodedBody } from "./encode-body.ts";
import { HttpUsageError } from "../../errors.ts";
import { hasHeader, headerList, withoutHeaders, isCredentialHeader } from "./header-values.ts";
import { normaliseMethod } from "./method.ts";
import { isAbsolute, joinUrl, parseRequestUrl } from "./request-url.ts";
import type { EndpointRequest, RestRequest } from "./rest-request.ts";
import type { HeaderList } from "../transport/transport.ts";

/** A request that is checked and encoded, as `makeRequest` sends it. */
export interface RequestObject {
  /** The method as it goes on the wire. */
  readonly method: string;
  /** Without user information and fragment. */
  readonly url: URL;
  /** Names in lower case, each followed by its value. */
  readonly headers: HeaderList;
  /** Text, bytes and blobs can be sent again, a stream cannot. */
  readonly body: EncodedBody | undefined;
}

/** Parts that a client adds to each of its requests. */
export interface RequestDefaults {
  readonly baseUrl: string | undefined;
  /** Origin of `baseUrl`. */
  readonly origin: string | undefined;
  readonly headers: HeaderList;
  readonly queryParams: QueryParameters | undefined;
}

/** Every request has these, unless its caller sets or removes them. */
export const plainDefaults: RequestDefaults = Object.freeze({
  baseUrl: undefined,
  origin: undefined,
  headers: Object.freeze(["user-agent", "fetchwork"]),
  queryParams: undefined,
});

/**
 * Checks a request and encodes its URL, headers and body, without sending anything.
 *
 * @example
 * ```ts
 * const built = buildRequestObject({ baseUrl: "https://api.example.com/x", queryParams: { page: 2 } });
 * const response = buildResponse(await makeRequest(built));
 * ```
 * @throws HttpUsageError `ERR_HTTP_URL`, `ERR_HTTP_METHOD`, `ERR_HTTP_HEADER`, `ERR_HTTP_JSON` or
 * `ERR_HTTP_BODY`
 */
export function buildRequestObject(request: RestRequest | EndpointRequest): RequestObject {
  const built = buildWith(request, plainDefaults);
  return { ...built, url: new URL(built.url) };
}

/** The same, with the defaults of a client, and a URL that other requests share. @internal */
export function buildWith(
  request: RestRequest | EndpointRequest,
  defaults: RequestDefaults,
): RequestObject {
  if (typeof request !== "object" || request === null) {
    throw new HttpUsageError("ERR_HTTP_URL", "the request must be an object with a URL");
  }
  const isEndpoint = "url" in request && request.url !== undefined;
  if (!isEndpoint) checkMembers(request);
  const given = isEndpoint ? request.url : "baseUrl" in request ? request.baseUrl : undefined;
  const own = "queryParams" in request ? request.queryParams : undefined;
  const method = normaliseMethod(request.method);
  const { url, authorization } = parseRequestUrl(fullUrl(given, own, defaults));
  const foreign = defaults.origin !== undefined && defaults.origin !== url.origin;
  // A client's credentials are for its base URL only, whatever URL a request has.
  const shared = foreign ? withoutHeaders(defaults.headers, isCredentialHeader) : defaults.headers;
  const headers = headerList(request.headers, shared);
  if (authorization !== undefined && !hasHeader(headers, "authorization")) {
    headers.push("authorization", authorization);
  }
  if (request.body === undefined) return { method, url, headers, body: undefined };
  const encoded = encodeBody(request.body, { sendsNull: isEndpoint });
  if (encoded !== undefined && !hasHeader(headers, "content-type")) {
    headers.push("content-type", encoded.type);
  }
  return { method, url, headers, body: encoded?.body };
}

function checkMembers(request: RestRequest | EndpointRequest): void {
  const misplaced = ["timeout", "signal", "retry", "throwOnStatus"].find((name) => name in request);
  if (misplaced !== undefined) {
    const message = `${misplaced} is an option of the second argument, not a member of a request`;
    throw new HttpUsageError("ERR_HTTP_OPTION", message);
  }
  checkOptions<{ [Name in keyof (RestRequest & EndpointRequest)]?: unknown }>(
    "a request",
    request,
    ["method", "baseUrl", "headers", "queryParams", "body", "url", "request"],
  );
}

function fullUrl(
  given: string | undefined,
  own: QueryParameters | undefined,
  { baseUrl, queryParams }: RequestDefaults,
): string {
  const relative: unknown = given ?? "";
  if (typeof relative !== "string") {
    throw new HttpUsageError("ERR_HTTP_URL", `the URL must be text, got ${typeof relative}`);
  }
  const url = baseUrl === undefined || isAbsolute(relative) ? relative : joinUrl(baseUrl, relative);
  if (queryParams === undefined) return own === undefined ? url : addQueryParameters(url, own);
  return addQueryParameters(url, own === undefined ? queryParams : { ...queryParams, ...own });
}
