import type { TargetCheck } from "../message/allowed-origins.ts";
import {
  createAuthorizer,
  readRequest,
  type AuthorizeOptions,
  type TokenSource,
} from "./authorizer.ts";
import type { Fetch } from "../connection/fetch.ts";
import { checkOptions } from "../check-options.ts";

/** A handler of `@fetchwork/http`, with whatever context. */
export type ContextHandler<C> = (request: Request, context: C) => Response | Promise<Response>;

/** A middleware of `@fetchwork/http`. */
export type ContextMiddleware = <C>(next: ContextHandler<C>) => ContextHandler<C>;

/**
 * Makes a middleware that puts a token on every request to allowed origins, unless the request has
 * an `Authorization` already; others are passed on unchanged. The wrapped handler sends;
 * headers, time limit, redirect rules and log are those of the client. Errors of the handler are
 * passed on unchanged. For a fixed token there is the `withAccessToken` of `@fetchwork/middleware`.
 *
 * @example
 * ```ts
 * const api = wrap(fetch, retry(), withAccessToken(new TokenManager(client, { store })));
 * ```
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION`
 */
export function withAccessToken(
  source: TokenSource,
  options: AuthorizeOptions = {},
): ContextMiddleware {
  checkOptions("withAccessToken", options, ["allowedOrigins"]);
  const authorizer = createAuthorizer(source, options);
  return (next) => async (request, context) => {
    const url = new URL(request.url);
    if (request.headers.has("authorization") || !isAllowed(authorizer.checkTarget, url)) {
      return next(request, context);
    }
    const transport: Fetch = (sent) => next(sent, context);
    return authorizer.send({ ...(await readRequest(request)), url, transport });
  };
}

function isAllowed(check: TargetCheck, url: URL): boolean {
  try {
    check(url);
    return true;
  } catch {
    return false;
  }
}
