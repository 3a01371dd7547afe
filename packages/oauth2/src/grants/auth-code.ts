import type { AccessToken, TokenClient } from "../token/access-token.ts";
import {
  checkOwnParameters,
  checkTransaction,
  hasOpenId,
  readMaxAge,
  type AuthorizationTransaction,
  type OpenIdFlow,
  type StartAuthorizationOptions,
  type StartedAuthorization,
} from "./authorization-flow.ts";
import { optionError, AuthorizationResponseError } from "../errors.ts";
import type { GrantParams } from "../message/form.ts";
import {
  readCallback,
  validateAuthorizationResponse,
  type CallbackInput,
} from "./authorization-response.ts";
import { hideFromInspect } from "../inspect-as-json.ts";
import { codeChallenge, randomValue } from "./pkce.ts";
import { keptParams } from "../token/refresh-params.ts";
import type { TokenOptions } from "../token/token-options.ts";
import { splitTokenParams, type TokenParams } from "../token/token-params.ts";
import { checkOptions } from "../check-options.ts";

/** Parameters of an authorization URL by wire name; `redirectUri` means `redirect_uri`. */
export type AuthorizeParams = GrantParams & { readonly redirectUri?: string | undefined };

/** Client of a grant with an authorization URL; an `OAuth2Client` is one. */
export interface AuthorizationClient extends TokenClient {
  readonly redirectUri: string | undefined;
  /** The authorization server, when it is known. */
  readonly issuer: string | undefined;
  /** Additions of OpenID Connect; `undefined` for a client that knows OAuth only. */
  readonly openId?: OpenIdFlow | undefined;
  authorizeUrl(params: AuthorizeParams): string;
}

/** The grant with an authorization code (RFC 6749, 4.1). */
export class AuthCodeGrant {
  readonly #client: AuthorizationClient;

  constructor(client: AuthorizationClient) {
    this.#client = client;
  }

  /**
   * Starts a sign-in: makes the URL to send the browser to, and the transaction to keep until the
   * callback. The URL has PKCE (`S256`) and `state`, and a `nonce` when an ID token is asked for.
   * With an `OidcClient` the request is signed or pushed where that is wanted.
   *
   * @example
   * ```ts
   * const { url, transaction } = await client.authCode.start({ redirectUri, scope: "read" });
   * ```
   * @throws OAuth2UsageError `ERR_OAUTH_OPTION` for parameters that it makes itself, and for the
   * scope `openid` with a client that is not an `OidcClient`, because the ID token would not be
   * validated
   */
  async start(
    params: AuthorizeParams = {},
    options: StartAuthorizationOptions = {},
  ): Promise<StartedAuthorization> {
    checkOptions("authCode.start", options, ["lifetime"]);
    const { lifetime = 3600 } = options;
    if (!(lifetime > 0)) throw optionError("lifetime", lifetime, "seconds above 0");
    checkOwnParameters(params);
    const { openId, issuer, clock } = this.#client;
    const scope = params["scope"] ?? openId?.defaultScope;
    const asksForIdToken = hasOpenId(scope);
    if (asksForIdToken && openId === undefined)
      throw optionError("scope", "openid", "an OidcClient, which validates the ID token");
    const state = randomValue();
    const codeVerifier = randomValue();
    const nonce = asksForIdToken ? randomValue() : undefined;
    const url = new URL(
      this.authorizeUrl({
        ...params,
        scope,
        state,
        nonce,
        code_challenge: await codeChallenge(codeVerifier),
        code_challenge_method: "S256",
      }),
    );
    const sent = url.searchParams;
    const transaction: AuthorizationTransaction = {
      state,
      codeVerifier,
      nonce,
      redirectUri: sent.get("redirect_uri") ?? undefined,
      issuer,
      resource: sent.has("resource") ? sent.getAll("resource") : undefined,
      scope: sent.get("scope") ?? undefined,
      maxAge: readMaxAge(sent.get("max_age")),
      expiresAt: Math.floor(clock() / 1000 + lifetime),
    };
    const finished = openId === undefined ? url.href : await openId.finishUrl(url);
    return { url: finished, transaction: hideFromInspect(transaction, "codeVerifier") };
  }

  /**
   * Finishes a sign-in: checks that the callback belongs to the transaction (`state`, `iss`),
   * exchanges the code with the code verifier, and validates the ID token.
   *
   * @param input URL, query or request of the callback; a POST is read as the form of
   * `response_mode=form_post`
   * @param params further parameters of the token request
   * @throws AuthorizationResponseError when the user or server refused (`code` says why, such as
   * `access_denied`), or the callback is not of this transaction (`ERR_OAUTH_CALLBACK`)
   * @throws OAuth2Error when the server refuses the code; TokenValidationError when the ID token is
   * not to be trusted
   */
  async callback(
    input: CallbackInput,
    transaction: AuthorizationTransaction,
    params: TokenParams = {},
    options: TokenOptions = {},
  ): Promise<AccessToken> {
    checkTransaction(transaction);
    const { state, codeVerifier, redirectUri, issuer, resource, scope, expiresAt } = transaction;
    const client = this.#client;
    const parameters = await readCallback(input);
    if (issuer !== client.issuer)
      throw new AuthorizationResponseError(
        "the transaction belongs to another authorization server",
      );
    const requiresIssuer = client.openId?.requiresIssuer;
    const code = validateAuthorizationResponse(parameters, { state, issuer, requiresIssuer });
    if (expiresAt <= client.clock() / 1000)
      throw new AuthorizationResponseError("the sign-in has expired");
    const proven = { resource, ...params, redirect_uri: redirectUri, code_verifier: codeVerifier };
    // The scope belongs to the request of the code; the refreshes of the token send it again.
    const refreshParams = keptParams({ scope, ...splitTokenParams(proven).params });
    const token = await this.getToken(code, proven, { refreshParams, ...options });
    if (token.error === undefined) client.openId?.verify(token, transaction);
    return token;
  }

  /**
   * Makes the URL to send a browser to. Adds `client_id`, `response_type=code` and `redirect_uri`,
   * and nothing that protects the callback: `start` does.
   */
  authorizeUrl(params: AuthorizeParams = {}): string {
    return authorizeUrlFor(this.#client, "code", params);
  }

  /**
   * Exchanges a code for a token (RFC 6749, 4.1.3). Parameters of the caller override those added.
   *
   * @throws what `getToken` of the client throws
   */
  async getToken(
    code: string,
    params: TokenParams = {},
    options: TokenOptions = {},
  ): Promise<AccessToken> {
    if (typeof code !== "string") throw optionError("the code", typeof code, "text");
    const redirectUri = params.redirectUri ?? this.#client.redirectUri;
    return this.#client.getToken(
      { grant_type: "authorization_code", code, redirect_uri: redirectUri, ...params },
      options,
    );
  }
}

/** Makes an authorization URL of the parameters that every one has; those of the caller win. */
export function authorizeUrlFor(
  client: AuthorizationClient,
  responseType: string,
  { redirectUri, ...params }: AuthorizeParams,
): string {
  return client.authorizeUrl({
    client_id: client.id,
    response_type: responseType,
    redirect_uri: redirectUri ?? client.redirectUri,
    ...params,
  });
}
