import type { RequestObject } from "./request/build-request-object.ts";
import { Client, type SendResult } from "./client.ts";
import type { ItemOf, PaginateOptions } from "./paginate.ts";
import type { EndpointRequest, RestRequest } from "./request/rest-request.ts";
import type { RestResponse } from "./response/rest-response.ts";
import type { SendOptions } from "./send-options.ts";
import type { StreamResponse } from "./response/stream-response.ts";
import type { WholeResponse } from "./transport/transport.ts";

/** The client of `send`, `trySend`, `stream`, `paginate`, `makeRequest`: no options. */
export const defaultClient: Client = new Client();

/**
 * Sends a request and reads its response whole (specification, part C). A status of 400 or more is
 * a response like any other.
 *
 * @example
 * ```ts
 * const { statusCode, body, headers } = await send({
 *   method: Method.Post,
 *   baseUrl: "https://api.example.com/users",
 *   headers: { authorization: `Bearer ${token}` },
 *   body: { name: "Ada" },
 * });
 * ```
 * @throws TransportError as a rejection, when there is no complete response
 * @throws HttpUsageError as a rejection, when the request or an option is wrong
 */
export function send(
  request: RestRequest | EndpointRequest,
  options?: SendOptions,
): Promise<RestResponse> {
  return defaultClient.send(request, options);
}

/** {@link send} with its two return values, and no rejection: a response, or an error. */
export function trySend(
  request: RestRequest | EndpointRequest,
  options?: SendOptions,
): Promise<SendResult> {
  return defaultClient.trySend(request, options);
}

/**
 * Sends a request and resolves with the head of its response; the body arrives as it is read.
 *
 * @throws TransportError as a rejection, or from the stream when the body breaks off
 * @throws HttpUsageError as a rejection, when the request or an option is wrong
 */
export function stream(
  request: RestRequest | EndpointRequest,
  options?: SendOptions,
): Promise<StreamResponse> {
  return defaultClient.stream(request, options);
}

/**
 * Sends a request and, as the items are taken, the requests of the pages after it; see
 * `Client.paginate`.
 *
 * @throws HttpUsageError at once when the request or an option is wrong
 * @throws HttpError `ERR_HTTP_PAGE`, and what `send` throws, as items are taken
 */
export function paginate<Page = unknown, Item = ItemOf<Page>>(
  request: RestRequest | EndpointRequest,
  options?: PaginateOptions<Page, Item>,
): AsyncGenerator<Item, void, undefined> {
  return defaultClient.paginate(request, options);
}

/**
 * Sends what `buildRequestObject` made; `buildResponse` makes a response of the result.
 *
 * @param client - Default: the one of {@link send}.
 * @throws TransportError as a rejection
 */
export function makeRequest(
  request: RequestObject,
  client: Client = defaultClient,
): Promise<WholeResponse> {
  return client.exchange(request);
}
