import type { AccessToken, TokenClient } from "../token/access-token.ts";
import {
  finishAuthorization,
  startAuthorization,
  type AuthorizationFlowClient,
  type AuthorizationTransaction,
  type StartAuthorizationOptions,
  type StartedAuthorization,
} from "./authorization-flow.ts";
import { optionError } from "../errors.ts";
import type { GrantParams } from "../message/form.ts";
import type { CallbackInput } from "./authorization-response.ts";
import type { TokenOptions } from "../token/token-options.ts";
import type { TokenParams } from "../token/token-params.ts";

/** Parameters of an authorization URL by wire name; `redirectUri` means `redirect_uri`. */
export type AuthorizeParams = GrantParams & { readonly redirectUri?: string | undefined };

/** Client of a grant with an authorization URL; an `OAuth2Client` is one. */
export interface AuthorizationClient
  extends AuthorizationFlowClient, Pick<TokenClient, "getToken"> {
  readonly id: string | null;
  readonly redirectUri: string | undefined;
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
  start(
    params: AuthorizeParams = {},
    options: StartAuthorizationOptions = {},
  ): Promise<StartedAuthorization> {
    return startAuthorization(this.#client, params, options);
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
  callback(
    input: CallbackInput,
    transaction: AuthorizationTransaction,
    params: TokenParams = {},
    options: TokenOptions = {},
  ): Promise<AccessToken> {
    return finishAuthorization(this.#client, input, transaction, { params, options });
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
