import type { AccessToken } from "../token/access-token.ts";
import {
  createTargetCheck,
  type AllowedOrigins,
  type TargetCheck,
} from "../message/allowed-origins.ts";
import { toHeaders } from "../connection/connection.ts";
import { optionError, OAuth2UsageError } from "../errors.ts";
import { wholeOrStream } from "../message/whole-or-stream.ts";
import { isStream } from "../message/request-body.ts";
import { streamToResource, type StreamedRequest } from "../connection/resource-request.ts";
import { TokenManager } from "../manager/token-manager.ts";

/** Where requests get their token: a manager, which keeps it fresh, or one token. */
export type TokenSource = TokenManager | AccessToken;

/** Options of what puts tokens on requests. */
export interface AuthorizeOptions {
  /**
   * Where the token may go, of what the `allowedOrigins` of the client allows; a request to
   * anywhere else is refused. Default: the origin of the client's `site`; a client without a site
   * needs this option.
   */
  readonly allowedOrigins?: AllowedOrigins | undefined;
}

/** A request without its token. */
export type UnauthorizedRequest = Omit<StreamedRequest, "credential">;

/** Puts tokens of a source on requests. */
export interface Authorizer {
  readonly resolve: (path: string | URL) => URL;
  readonly checkTarget: TargetCheck;
  /**
   * Sends a request with a token, with everything that the client has. After a 401 the token is
   * renewed and the request sent once more, where both can be done.
   */
  readonly send: (request: UnauthorizedRequest) => Promise<Response>;
}

/**
 * Makes what puts tokens on requests.
 *
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION`
 */
export function createAuthorizer(source: TokenSource, options: AuthorizeOptions): Authorizer {
  const { client } = source;
  const { allowedOrigins } = options;
  if (allowedOrigins === undefined && client.site === undefined) {
    throw optionError("allowedOrigins", undefined, "origins, since the client has no site");
  }
  const manager = source instanceof TokenManager ? source : undefined;
  const site = client.site === undefined ? undefined : new URL(client.site);
  const isAllowed = createTargetCheck(allowedOrigins ?? "site", site);
  const attempt = async (request: UnauthorizedRequest, token: AccessToken) => {
    const credential = token.credential(request.verb.toLowerCase());
    return streamToResource(client, { ...request, credential });
  };
  return {
    resolve: (path) => client.resolve(path),
    checkTarget(url) {
      isAllowed(url);
      client.checkTarget(url);
    },
    async send(request) {
      const { signal, url, body } = request;
      const token =
        source instanceof TokenManager
          ? (source.peek() ?? (await source.getToken({ signal })))
          : source;
      const { stream, head } = await attempt(request, token);
      // Another origin, to which a redirect may have led, did not get the token.
      const isRefused = head.status === 401 && new URL(head.url).origin === url.origin;
      if (!isRefused || manager === undefined) return stream;
      const renewed = await manager.getToken({ refused: token, signal }).catch(() => undefined);
      signal?.throwIfAborted();
      // The 401 describes what is wrong with the request; the manager reports the other error.
      if (renewed === undefined || isStream(body)) return stream;
      await stream.body?.cancel();
      return (await attempt(request, renewed)).stream;
    },
  };
}

/** Reads what `fetch` is called with: `init` wins over a `Request`. */
export async function readRequest(
  input: string | URL | Request,
  init: RequestInit = {},
): Promise<Omit<UnauthorizedRequest, "url">> {
  const request = input instanceof Request ? input : undefined;
  const { method, headers, body, redirect, signal, ...rest } = init;
  const verb = (method ?? request?.method ?? "GET").toUpperCase();
  const own = request?.body ?? undefined;
  const sent = body ?? (own === undefined ? undefined : await wholeOrStream(own));
  if (sent !== undefined && (verb === "GET" || verb === "HEAD")) {
    throw new OAuth2UsageError("ERR_OAUTH_OPTION", `a ${verb} request has no body`);
  }
  return {
    verb,
    headers: toHeaders(headers ?? request?.headers),
    body: sent,
    redirect: redirect ?? request?.redirect ?? "follow",
    signal: signal ?? request?.signal,
    init: request === undefined ? rest : { ...initOf(request), ...rest },
  };
}

/** Members of a `Request` for each request made of it; `cf` is that of Workers. */
const passedOn = [
  "cache",
  "cf",
  "credentials",
  "integrity",
  "keepalive",
  "mode",
  "referrer",
  "referrerPolicy",
] as const;

/** The other members of a request: those that the platform has and that were chosen. */
function initOf(request: Request): RequestInit {
  const plain = new Request(request.url);
  const chosen = passedOn.filter((name) => Reflect.get(request, name) !== Reflect.get(plain, name));
  return Object.fromEntries(chosen.map((name) => [name, Reflect.get(request, name)]));
}
