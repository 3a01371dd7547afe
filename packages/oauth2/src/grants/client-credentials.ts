import type { AccessToken, TokenClient } from "../token/access-token.ts";
import type { TokenOptions } from "../token/token-options.ts";
import type { TokenParams } from "../token/token-params.ts";

/** The grant with the credentials of the client itself (RFC 6749, 4.4). */
export class ClientCredentialsGrant {
  readonly #client: Pick<TokenClient, "getToken">;

  constructor(client: Pick<TokenClient, "getToken">) {
    this.#client = client;
  }

  /**
   * Asks for a token; `params` are further ones such as `scope` or `resource`.
   *
   * @throws what `getToken` of the client throws
   */
  getToken(params: TokenParams = {}, options?: TokenOptions): Promise<AccessToken> {
    return this.#client.getToken({ ...params, grant_type: "client_credentials" }, options);
  }
}
