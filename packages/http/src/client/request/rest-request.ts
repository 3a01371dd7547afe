import type { QueryParameters } from "./add-query-parameters.ts";
import type { RequestHeaders } from "./header-values.ts";
import type { Method } from "./method.ts";

/**
 * A body. Text and bytes are sent as they are, forms and blobs with their own type; anything else
 * that has a JSON form is sent as JSON. Streams and iterables can be sent once only, so neither a
 * retry nor a redirect repeats them.
 */
export type RequestBody =
  | string
  | Uint8Array
  | ArrayBuffer
  | ArrayBufferView
  | URLSearchParams
  | FormData
  | Blob
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array | string>
  | object
  | number
  | boolean;

/** A request (specification, part C). */
export interface RestRequest {
  /** Default: `GET`. Standard names are upper-cased. */
  readonly method?: Method | undefined;
  /**
   * Absolute URL; its query is preserved, its user information becomes an `Authorization: Basic`
   * header. For a `Client` with a `baseUrl` it may be relative to that one.
   */
  readonly baseUrl: string;
  /** Default: those of the client. */
  readonly headers?: RequestHeaders | undefined;
  /** Added to the query of `baseUrl`, sorted by name. Default: those of the client. */
  readonly queryParams?: QueryParameters | undefined;
  /**
   * Any method may have one. Without a `Content-Type` it is sent as `application/json`, streams and
   * blobs without a type as `application/octet-stream`. `null` and empty text are no body.
   */
  readonly body?: RequestBody | null | undefined;
}

/**
 * Result of `endpoint()` of `@fetchwork/endpoint`, and of other builders of that shape. A `body` of
 * `null` is the JSON value here. `request` may hold options of `send`, such as `signal` and
 * `timeout`; those of the call win.
 */
export interface EndpointRequest {
  readonly method: string;
  readonly url: string;
  readonly headers?: RequestHeaders | undefined;
  /** Text and bytes as they are, any other value as JSON. */
  readonly body?: unknown;
  readonly request?: unknown;
}
