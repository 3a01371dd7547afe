import type { AccessToken } from "./access-token.ts";
import type { OAuth2Client } from "./client.ts";
import type { Params } from "./form.ts";
import type { TokenOptions } from "./token-options.ts";
import type { TokenParams } from "./token-params.ts";

/** Parameters of an authorization URL by their wire names; `redirectUri` is another spelling of `redirect_uri`. */
export type AuthorizeParams = Params & { readonly redirectUri?: string | undefined };

/** The grant with an authorization code (RFC 6749, 4.1). */
export class AuthCodeStrategy {
  readonly #client: OAuth2Client;

  constructor(client: OAuth2Client) {
    this.#client = client;
  }

  /**
   * Makes the URL to send a browser to. Adds `client_id`, `response_type=code` and `redirect_uri`, and nothing that
   * protects the callback: `start` does.
   */
  authorizeUrl(params: AuthorizeParams = {}): string {
    return authorizeUrlFor(this.#client, "code", params);
  }

  /**
   * Exchanges a code for a token (RFC 6749, 4.1.3). What the caller gives wins over what is added.
   *
   * @throws what {@link OAuth2Client.getToken} throws
   */
  getToken(
    code: string,
    params: TokenParams = {},
    options: TokenOptions = {},
  ): Promise<AccessToken> {
    const redirectUri = params.redirectUri ?? this.#client.redirectUri;
    return this.#client.getToken(
      { grant_type: "authorization_code", code, redirect_uri: redirectUri, ...params },
      options,
    );
  }
}

/** Makes an authorization URL of the parameters that every one has; those of the caller win. */
export function authorizeUrlFor(
  client: OAuth2Client,
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
