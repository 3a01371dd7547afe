import { deriveRequest, type Middleware } from "@fetchwork/http";
import { isReceivedRequest } from "@fetchwork/http/internal";
import { MiddlewareError } from "../errors.ts";
import { checkNext, checkOptions, optionError } from "../check-options.ts";

/** Returns the current token; called once per request. */
type BearerTokenSource = () => string | Promise<string>;

/** Options of {@link bearer}. */
export interface BearerOptions {
  /** Origins that get the token, such as `https://api.example.com`. Default: all. */
  readonly origins?: readonly string[] | undefined;
}

/**
 * Sends a token with every request, as `Authorization: Bearer` (RFC 6750, 2.1), unless the request
 * has an `Authorization` header already. A `fetch` inside drops it when it is redirected to another
 * origin.
 *
 * It is for clients and guards nothing: around the handler of a server every request fails with a
 * {@link MiddlewareError} of code `ERR_MIDDLEWARE_SERVER`. A server checks credentials with
 * `basicAuth`, or the tokens of `@fetchwork/rest`; a handler that calls another service puts
 * `bearer` around its `fetch`.
 *
 * @example
 * ```ts
 * const api = wrap(fetch, bearer(() => tokens.current(), { origins: ["https://api.example.com"] }));
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` when the token, or later the result of the
 * function, is invalid; the message does not show it
 */
export function bearer(token: string | BearerTokenSource, options: BearerOptions = {}): Middleware {
  checkOptions("bearer", options, ["origins"]);
  const allowed = checkOrigins(options.origins);
  const fixed = typeof token === "string" ? authorization(token) : undefined;
  if (typeof token !== "string" && typeof token !== "function")
    throw optionError("token", typeof token, "text or a function");
  return (next) => {
    checkNext("bearer", next);
    return (request, context) => {
      if (isReceivedRequest(request, context)) throw guardError();
      if (request.headers.has("authorization")) return next(request, context);
      if (allowed !== undefined && !allowed.has(new URL(request.url).origin)) {
        return next(request, context);
      }
      if (fixed !== undefined) return next(withAuthorization(request, fixed), context);
      const send = (value: string): Response | Promise<Response> =>
        next(withAuthorization(request, authorization(value)), context);
      const current = typeof token === "string" ? token : token();
      return current instanceof Promise ? current.then(send) : send(current);
    };
  };
}

function guardError(): MiddlewareError {
  return new MiddlewareError(
    "ERR_MIDDLEWARE_SERVER",
    "bearer wraps the handler of a server, where it protects nothing: it adds a token to the requests of a" +
      " client; put it around a fetch, and check the credentials of requests with basicAuth or a function of your own",
  );
}

function authorization(token: unknown): string {
  if (typeof token === "string" && /^[A-Za-z\d\-._~+/]+=*$/.test(token)) return `Bearer ${token}`;
  throw new MiddlewareError(
    "ERR_MIDDLEWARE_OPTION",
    "the token is empty or has characters that no bearer token has (RFC 6750, 2.1)",
  );
}

function withAuthorization(request: Request, value: string): Request {
  if ("_request" in request) return deriveRequest(request, { headers: { authorization: value } });
  // `fetch` takes the platform's requests only.
  const headers = new Headers(request.headers);
  headers.set("authorization", value);
  return new Request(request, { headers });
}

function checkOrigins(origins: readonly string[] | undefined): ReadonlySet<string> | undefined {
  if (origins === undefined) return undefined;
  if (!Array.isArray(origins)) throw optionError("origins", origins, "a list of origins");
  for (const origin of origins as readonly unknown[]) {
    const isOrigin =
      typeof origin === "string" && URL.canParse(origin) && new URL(origin).origin === origin;
    if (!isOrigin) throw optionError("origin", origin, "`scheme://host[:port]` in lower case");
  }
  return new Set(origins);
}
