import { checkNames } from "../check-names.ts";
import { fail } from "../errors.ts";
import { type HeadersOption, mergeHeaders } from "../headers.ts";
import { buildCall } from "./build-call.ts";
import type {
  BodyReaders,
  CallArguments,
  OperationOf,
  PathsOf,
  QuerySerializer,
  TypedMethod,
  TypedResult,
} from "./operation.ts";
import { readResponse } from "./read-response.ts";

/** Options of {@link createTypedEndpoint}. */
export interface TypedEndpointOptions {
  /** Put before every path. Default: `""`, for relative URLs in a browser. */
  readonly baseUrl?: string | undefined;
  /** Sends a call; any function of this shape. Default: the platform's `fetch`. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Sent with every call. Default: none. */
  readonly headers?: HeadersOption | undefined;
  /**
   * Writes the query of every call. Default: `a=1` for texts, `a=1&a=2` for lists, `a[b]=1` for
   * objects; the types of a description do not say which style it asks for.
   */
  readonly querySerializer?: QuerySerializer | undefined;
}

/**
 * One method of {@link TypedEndpoint}.
 *
 * `Operation` is a parameter because compilers would otherwise look at the operations of all paths
 * for each call.
 */
export type TypedCall<Paths, Method extends string> = <
  const Path extends PathsOf<Paths, Method>,
  Output = never,
  const Reader extends keyof BodyReaders = never,
  Operation = OperationOf<Paths, Path, Method>,
>(
  path: Path,
  ...options: CallArguments<Operation, Output, Reader>
) => Promise<TypedResult<Operation, Output, Reader>>;

/** Calls the operations of a description: `api.GET("/users/{id}", { params: … })`. */
export type TypedEndpoint<Paths> = {
  readonly [Method in TypedMethod]: TypedCall<Paths, Lowercase<Method>>;
};

/**
 * Makes a caller for the operations of an OpenAPI description, over the `paths` types of
 * openapi-typescript or `@octokit/openapi-types`.
 *
 * Parameters go where `params` puts them, and no value leaves its place: a path parameter is
 * percent-encoded (RFC 6570 level 1). It must not be empty or make a segment `.` or `..`. A call
 * rejects when `fetch` rejects, and resolves for every status.
 *
 * @throws {EndpointError} `ERR_ENDPOINT_OPTION` or `ERR_ENDPOINT_HEADER` for a wrong option. Calls
 * reject with `ERR_ENDPOINT_HEADER`, `_MISSING`, `_PATH`, `_TEMPLATE`, `_VALUE` or `_REQUEST`
 * before anything is sent, and with {@link EndpointResponseError} for data that is not JSON or not
 * what its schema expects.
 *
 * @example
 * const api = createTypedEndpoint<paths>({ baseUrl: "https://api.example.com" });
 * const { data, error } = await api.GET("/posts/{id}", { params: { path: { id: "1" } } });
 */
export function createTypedEndpoint<Paths extends object>(
  options: TypedEndpointOptions = {},
): TypedEndpoint<Paths> {
  checkNames("createTypedEndpoint", options, ["baseUrl", "fetch", "headers", "querySerializer"]);
  const { baseUrl = "", fetch: send, headers = {}, querySerializer } = options;
  if (typeof baseUrl !== "string" || /[\s?#\\]/.test(baseUrl)) {
    fail("ERR_ENDPOINT_OPTION", "the baseUrl is malformed");
  }
  const defaults = {
    baseUrl: baseUrl.replace(/\/$/, ""),
    headers: mergeHeaders({}, headers),
    querySerializer,
  };
  const method =
    (name: TypedMethod) =>
    async (path: string, given: unknown = {}) => {
      const { url, init, ...reading } = buildCall(defaults, [name, path], given);
      return readResponse(await (send ?? fetch)(url, init), reading);
    };
  const methods: readonly TypedMethod[] = [
    "GET",
    "PUT",
    "POST",
    "DELETE",
    "OPTIONS",
    "HEAD",
    "PATCH",
  ];
  const calls: Readonly<Record<string, unknown>> = Object.fromEntries(
    methods.map((name) => [name, method(name)]),
  );
  // The types are of the description, which is not there when this runs.
  return calls as TypedEndpoint<Paths>;
}
