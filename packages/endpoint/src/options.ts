import type { HeadersOption } from "./headers.ts";
import type { MediaTypeOption } from "./media-type.ts";

/**
 * Options of a request. Every other property is a parameter: it fills its placeholder in the url;
 * else it is a query parameter for GET and HEAD, and a key of the JSON body for other methods.
 * `undefined` counts as absent.
 */
export interface EndpointOptions {
  /** Any method (RFC 9110 section 9); wins over the route's. Default: `"GET"`. */
  readonly method?: string | undefined;
  /**
   * Path, or whole URL, with placeholders: a URI template (RFC 6570) in whose path `:name` means
   * `{name}`. Wins over the route's. Required unless there is a route.
   */
  readonly url?: string | undefined;
  /** Prefix of an url without a scheme, with one slash between. Default: the preset's. */
  readonly baseUrl?: string | undefined;
  /** Merged with the defaults. Default: `accept` and `user-agent`. */
  readonly headers?: HeadersOption | null | undefined;
  /** Amends the `accept` header. */
  readonly mediaType?: MediaTypeOption | null | undefined;
  /** The body itself, in place of parameters; those without a placeholder are dropped. */
  readonly data?: unknown;
  /** Meant for whatever sends the request: returned unchanged. */
  readonly request?: unknown;
  /** A parameter. */
  readonly [parameter: string]: unknown;
}

/** Options with nothing left to merge. */
export interface EndpointDefaults extends EndpointOptions {
  readonly method: string;
  /** Prefix of urls without a scheme. */
  readonly baseUrl: string;
  /** Headers by name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly mediaType: MediaTypeOption;
}

/** A request as plain data, for any HTTP library. */
export interface RequestOptions {
  /** Lower case, unless the preset chooses otherwise. */
  method: string;
  /** Without placeholders. */
  url: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** Absent for GET and HEAD, and when there is none. An object is meant to be sent as JSON. */
  body?: unknown;
  /** The option of that name. */
  request?: unknown;
}
