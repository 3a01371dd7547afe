import {
  createAuthorizer,
  readRequest,
  type AuthorizeOptions,
  type TokenSource,
} from "./authorizer.ts";
import { checkOptions } from "../check-options.ts";

/** A `fetch`. */
export type AuthorizedFetch = (
  input: string | URL | Request,
  init?: RequestInit,
) => Promise<Response>;

/**
 * Makes a `fetch` whose requests carry a token, and are sent as all requests of the client are:
 * with its `fetch`, certificate, proxy, headers, time limit, redirect rules and log. Paths are
 * resolved against the client's `site`; bodies may be streams; a status of 400 or more is not
 * thrown.
 *
 * @example
 * ```ts
 * const api = authorizedFetch(new TokenManager(client, { store }));
 * const items = await (await api("/items")).json();
 * ```
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION`; the function that it returns throws
 * `ERR_OAUTH_TARGET`, what `getToken` of a manager throws, OAuth2ConnectionError,
 * OAuth2TimeoutError, OAuth2RedirectError, and the reason of the signal
 */
export function authorizedFetch(
  source: TokenSource,
  options: AuthorizeOptions = {},
): AuthorizedFetch {
  checkOptions("authorizedFetch", options, ["allowedOrigins"]);
  const authorizer = createAuthorizer(source, options);
  return async (input, init) => {
    const url = input instanceof Request ? new URL(input.url) : authorizer.resolve(input);
    authorizer.checkTarget(url);
    return authorizer.send({ ...(await readRequest(input, init)), url });
  };
}
