export { addVary, changeHeaders, changeResult, setDefault } from "./message/change-headers.ts";
export { addQueryParameters } from "./client/request/add-query-parameters.ts";
export { buildRequestObject, type RequestObject } from "./client/request/build-request-object.ts";
export type { ClientLoggerOptions, ClientLogRecord } from "./client/client-logger.ts";
export { Client, type ClientOptions, type SendResult } from "./client/client.ts";
export { fetchTransport } from "./client/transport/fetch-transport.ts";
export type { ClientHooks } from "./client/hooks.ts";
export { Method } from "./client/request/method.ts";
export { mockTransport } from "./client/transport/mock-transport.ts";
export type { PaginateOptions } from "./client/paginate.ts";
export type { RedirectOptions } from "./client/redirect.ts";
export type { ResponseHeaders } from "./client/response/response-headers.ts";
export { ResponseError } from "./client/response/response-error.ts";
export { ResponseSchemaError } from "./client/response/response-schema.ts";
export type { EndpointRequest, RequestBody, RestRequest } from "./client/request/rest-request.ts";
export { buildResponse, ResponseHead, RestResponse } from "./client/response/rest-response.ts";
export { type RetryOptions } from "./client/retry.ts";
export type { SendOptions, ClientTimeouts } from "./client/send-options.ts";
export { defaultClient, makeRequest, paginate, send, stream, trySend } from "./client/send.ts";
export type { ClientSettings, CookieStore } from "./client/settings.ts";
export { StreamResponse } from "./client/response/stream-response.ts";
export { toFetch } from "./client/to-fetch.ts";
export {
  AbortError,
  ConnectionError,
  ProtocolError,
  RedirectError,
  TimeoutError,
  TooLargeError,
  TransportError,
  type ConnectionFailure,
} from "./client/transport/transport-errors.ts";
export type {
  StreamedResponse,
  Transport,
  TransportRequest,
  WholeResponse,
} from "./client/transport/transport.ts";
export { createContextKey, type ContextKey } from "./context-key.ts";
export type { Context, FinishReport } from "./context.ts";
export { createContext, finishContext } from "./exchange/create-context.ts";
export { deriveRequest } from "./message/derive-request.ts";
export {
  HttpError,
  HttpUsageError,
  ListenError,
  type HttpErrorCode,
  type HttpUsageErrorCode,
} from "./errors.ts";
export { exposedResponse } from "./exchange/exposed-response.ts";
export type { Handler, Middleware } from "./handler.ts";
export { FastResponse } from "./message/fast-response.ts";
export { nativeRequest } from "./message/native-request.ts";
export { empty, json, text } from "./message/response.ts";
export { runHandler, wrap, type WrappedHandler } from "./exchange/wrap.ts";
