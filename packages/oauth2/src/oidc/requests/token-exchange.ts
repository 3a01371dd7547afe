import type { AccessToken, TokenClient } from "../../token/access-token.ts";
import { InvalidResponseError, optionError } from "../../errors.ts";
import type { Scope } from "../../message/form.ts";
import type { TokenOptions } from "../../token/token-options.ts";
import type { TokenParams } from "../../token/token-params.ts";
import { checkOptions } from "../../check-options.ts";

/** Kinds of tokens (RFC 8693, 3); short for `urn:ietf:params:oauth:token-type:`. */
export type TokenTypeName =
  "access_token" | "refresh_token" | "id_token" | "saml1" | "saml2" | "jwt" | (string & {});

/** Parameters of {@link TokenExchange.getToken}. */
export interface TokenExchangeOptions {
  /** Token of the one on whose behalf is acted. */
  readonly subjectToken: string;
  /** Its kind. Default: `access_token`. */
  readonly subjectTokenType?: TokenTypeName | undefined;
  /** Token of the one who acts. Default: none. */
  readonly actorToken?: string | undefined;
  /** Its kind. Default: `access_token`. */
  readonly actorTokenType?: TokenTypeName | undefined;
  /** Kind of token that is wanted. Default: what the server thinks right. */
  readonly requestedTokenType?: TokenTypeName | undefined;
  /** URLs of the resources that it is for (RFC 8707). */
  readonly resource?: string | readonly string[] | undefined;
  /** Names of the services that it is for. */
  readonly audience?: string | readonly string[] | undefined;
  readonly scope?: Scope | undefined;
  /** Further parameters, and how the request is sent. */
  readonly params?: TokenParams | undefined;
}

const grantType = "urn:ietf:params:oauth:grant-type:token-exchange";
const typePrefix = "urn:ietf:params:oauth:token-type:";

/** Exchanges a token (RFC 8693): narrower, for a service, or on behalf of someone. */
export class TokenExchange {
  readonly #client: Pick<TokenClient, "getToken">;

  constructor(client: Pick<TokenClient, "getToken">) {
    this.#client = client;
  }

  /**
   * Exchanges a token. `params.issued_token_type` of the result is its type.
   *
   * @throws OAuth2Error when the server refuses, such as with `invalid_target`
   * @throws InvalidResponseError when the response does not state what was issued
   */
  async getToken(options: TokenExchangeOptions, tokenOptions?: TokenOptions): Promise<AccessToken> {
    checkOptions("tokenExchange.getToken", options, [
      "subjectToken",
      "subjectTokenType",
      "actorToken",
      "actorTokenType",
      "requestedTokenType",
      "resource",
      "audience",
      "scope",
      "params",
    ]);
    const { subjectToken, subjectTokenType = "access_token" } = options;
    const { actorToken, actorTokenType = "access_token", requestedTokenType } = options;
    const { resource, audience, scope, params } = options;
    if (typeof subjectToken !== "string" || subjectToken === "")
      throw optionError("subjectToken", typeof subjectToken, "a token");
    const token = await this.#client.getToken(
      {
        ...params,
        grant_type: grantType,
        subject_token: subjectToken,
        subject_token_type: typeUri(subjectTokenType),
        actor_token: actorToken,
        actor_token_type: actorToken === undefined ? undefined : typeUri(actorTokenType),
        requested_token_type: requestedTokenType && typeUri(requestedTokenType),
        resource,
        audience,
        scope,
      },
      tokenOptions,
    );
    const issued = token.params["issued_token_type"];
    if (token.error === undefined && typeof issued !== "string")
      throw new InvalidResponseError("the exchange has no issued_token_type", {
        response: token.response,
      });
    return token;
  }
}

function typeUri(name: string): string {
  return name.includes(":") ? name : `${typePrefix}${name}`;
}
