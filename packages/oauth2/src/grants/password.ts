import type { AccessToken, TokenClient } from "../token/access-token.ts";
import { optionError } from "../errors.ts";
import type { TokenOptions } from "../token/token-options.ts";
import type { TokenParams } from "../token/token-params.ts";

/** The password grant (RFC 6749, 4.3), forbidden for new systems by RFC 9700, 2.4. */
export class PasswordGrant {
  readonly #client: Pick<TokenClient, "getToken">;

  constructor(client: Pick<TokenClient, "getToken">) {
    this.#client = client;
  }

  /**
   * Asks for a token.
   *
   * @throws what `getToken` of the client throws
   */
  async getToken(
    username: string,
    password: string,
    params: TokenParams = {},
    options: TokenOptions = {},
  ): Promise<AccessToken> {
    if (typeof username !== "string" || typeof password !== "string") {
      throw optionError("the user name or password", "missing", "text");
    }
    return this.#client.getToken(
      { grant_type: "password", username, password, ...params },
      options,
    );
  }
}
