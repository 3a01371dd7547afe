import type { AccessToken } from "./access-token.ts";
import { createTargetCheck, type AllowedOrigins, type TargetCheck } from "./allowed-origins.ts";
import { optionError, TokenUnavailableError } from "./errors.ts";
import type { ProofTarget, RequestProof } from "./proof.ts";
import { OAuth2Response } from "./response.ts";
import { TokenManager } from "./token-manager.ts";
import { sendModeFor } from "./send-mode.ts";

/** Where requests get their token: a manager, which keeps it fresh, or one token. */
export type TokenSource = TokenManager | AccessToken;

/** Options of what puts tokens on requests. */
export interface AuthorizeOptions {
  /**
   * Where the token may go; a request to anywhere else is refused. Default: the origin of the client's `site`; without a
   * site there is none, and origins must be given.
   */
  readonly allowedOrigins?: AllowedOrigins | undefined;
  /**
   * Whether a 401 makes a manager renew the token, and the request be sent once more if its body can be. Default: true.
   */
  readonly retryOn401?: boolean | undefined;
}

/** What puts tokens of a source on requests. */
export interface Authorizer {
  /** The manager, when the source is one whose tokens are renewed after a 401. */
  readonly renews: TokenManager | undefined;
  readonly resolve: (path: string | URL) => URL;
  readonly checkTarget: TargetCheck;
  /** Gives a token, without a promise when it is at hand. */
  readonly token: (signal: AbortSignal | null | undefined) => AccessToken | Promise<AccessToken>;
}

/**
 * Makes what puts tokens on requests.
 *
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION`
 */
export function createAuthorizer(source: TokenSource, options: AuthorizeOptions): Authorizer {
  const { client } = source;
  const { allowedOrigins, retryOn401 = true } = options;
  if (allowedOrigins === undefined && client.site === undefined) {
    throw optionError("allowedOrigins", undefined, "origins, since the client has no site");
  }
  const manager = source instanceof TokenManager ? source : undefined;
  const site = client.site === undefined ? undefined : new URL(client.site);
  return {
    renews: retryOn401 ? manager : undefined,
    resolve: (path) => client.resolve(path),
    checkTarget: createTargetCheck(allowedOrigins ?? "site", site),
    token:
      source instanceof TokenManager
        ? (signal) => source.peek() ?? source.getToken({ signal })
        : () => source,
  };
}

/** What a request needs to carry a token. */
export interface TokenHeaders {
  /** Value of `Authorization`; `undefined` when the token is in the query. */
  readonly authorization: string | undefined;
  /** URL with the token, for mode `query`. */
  readonly url: URL;
  readonly proof: RequestProof | undefined;
}

/** Says how a token is to be put on a request. */
export function headersFor(token: AccessToken, method: string, url: URL): TokenHeaders {
  const authorization = token.authorization();
  const proof = token.tokenType?.toLowerCase() === "dpop" ? token.client.proof : undefined;
  const { mode, paramName } = token.options;
  const chosen = mode === "header" ? mode : sendModeFor(mode, method.toLowerCase());
  if (chosen === "header") return { authorization, url, proof };
  if (chosen === "body") {
    throw new TokenUnavailableError("a token with mode body is sent by its own requests only");
  }
  const extended = new URL(url);
  extended.searchParams.set(paramName, token.token);
  return { authorization: undefined, url: extended, proof };
}

/** Lets a proof look at an answer; says whether the request is to be sent again. */
export function asksForNonce(
  proof: RequestProof | undefined,
  response: Response,
  target: ProofTarget,
): boolean {
  if (proof === undefined) return false;
  const head = new OAuth2Response({
    status: response.status,
    headers: response.headers,
    body: "",
    url: target.url.href,
  });
  return proof.accept(head, target);
}
