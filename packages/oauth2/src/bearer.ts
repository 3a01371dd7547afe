import type { AccessToken } from "./access-token.ts";
import {
  asksForNonce,
  createAuthorizer,
  headersFor,
  type AuthorizeOptions,
  type TokenSource,
} from "./token-source.ts";
import type { ProofTarget } from "./proof.ts";

/** A handler of `@fetchwork/http`, with whatever context. */
export type ContextHandler<C> = (request: Request, context: C) => Response | Promise<Response>;

/** A middleware of `@fetchwork/http`. */
export type ContextMiddleware = <C>(next: ContextHandler<C>) => ContextHandler<C>;

/**
 * Makes a middleware that puts a token on every request to allowed origins, unless the request has an `Authorization` of
 * its own; others go on as they are. With mode `query` and with DPoP redirects are not followed. For a fixed token there is the `bearer` of `@fetchwork/middleware`.
 *
 * @example
 * ```ts
 * const api = wrap(fetch, retry(), bearer(new TokenManager(client, { store })));
 * ```
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION`
 */
export function bearer(source: TokenSource, options: AuthorizeOptions = {}): ContextMiddleware {
  const { renews, checkTarget, token: tokenFor } = createAuthorizer(source, options);
  return (next) => async (request, context) => {
    const url = new URL(request.url);
    if (request.headers.has("authorization") || !isAllowed(checkTarget, url)) {
      return next(request, context);
    }
    // A body is read by the first request that is sent.
    const repeatable = request.body === null;
    const send = (sent: Request): Response | Promise<Response> => next(sent, context);
    const token = await tokenFor(request.signal);
    const response = await sendWith(request, url, { token, send });
    if (response.status !== 401 || renews === undefined || !repeatable) return response;
    const fresh = await renewed(renews, token, request);
    if (fresh === undefined) return response;
    await response.body?.cancel();
    return sendWith(request, url, { token: fresh, send });
  };
}

interface Sending {
  readonly token: AccessToken;
  readonly send: (request: Request) => Response | Promise<Response>;
}

async function sendWith(request: Request, url: URL, { token, send }: Sending): Promise<Response> {
  const repeatable = request.body === null;
  const target: ProofTarget = { method: request.method, url, token: token.token };
  const response = await send(await authorized(request, target, token));
  const { proof } = headersFor(token, request.method, url);
  if (!asksForNonce(proof, response, target) || !repeatable) return response;
  await response.body?.cancel();
  const again = await send(await authorized(request, target, token));
  asksForNonce(proof, again, target);
  return again;
}

async function authorized(
  request: Request,
  target: ProofTarget,
  token: AccessToken,
): Promise<Request> {
  const { authorization, url, proof } = headersFor(token, request.method, target.url);
  const headers = new Headers(request.headers);
  if (authorization !== undefined) headers.set("authorization", authorization);
  if (proof !== undefined) headers.set("dpop", await proof.prove(target));
  const moved = url === target.url ? request : new Request(url, request);
  // Elsewhere a proof is void, and the platform drops the token of a header only.
  const isBound = proof !== undefined || authorization === undefined;
  const redirect = isBound && request.redirect === "follow" ? "manual" : request.redirect;
  return new Request(moved, { headers, redirect });
}

async function renewed(
  manager: NonNullable<ReturnType<typeof createAuthorizer>["renews"]>,
  refused: AccessToken,
  request: Request,
): Promise<AccessToken | undefined> {
  try {
    return await manager.getToken({ refused, signal: request.signal });
  } catch {
    // The 401 says what is wrong with the request; whoever wants the other error asks the manager.
    return undefined;
  }
}

function isAllowed(check: (url: URL) => void, url: URL): boolean {
  try {
    check(url);
    return true;
  } catch {
    return false;
  }
}
