import type { AccessToken, TokenClient } from "../token/access-token.ts";
import { OAuth2UsageError, optionError } from "../errors.ts";
import { signJwt } from "../credentials/sign-jwt.ts";
import type { SigningKey } from "../credentials/signing-key.ts";
import type { TokenOptions } from "../token/token-options.ts";
import type { TokenParams } from "../token/token-params.ts";
import { checkOptions } from "../check-options.ts";

/** Claims of an assertion: `iss`, `aud`, `sub`, `exp` (seconds) and others, unchanged. */
export type AssertionClaims = Readonly<Record<string, unknown>>;

/** How an assertion is signed. */
export interface AssertionEncoding {
  /** Algorithm, such as `HS256` or `RS256`. */
  readonly algorithm: string;
  /** Shared secret, or private key as JWK, `CryptoKey` or PKCS #8 in PEM. */
  readonly key: SigningKey;
  /** Identifier of the key, for the header. Default: none. */
  readonly kid?: string | undefined;
}

/** An assertion as one list. */
export type AssertionTuple = readonly [claims: AssertionClaims, algorithm: string, key: SigningKey];

/** The grant with a signed assertion (RFC 7523, 2.1). */
export class AssertionGrant {
  readonly #client: Pick<TokenClient, "getToken">;

  constructor(client: Pick<TokenClient, "getToken">) {
    this.#client = client;
  }

  /**
   * Asks for a token.
   *
   * @example
   * ```ts
   * const claims = { iss: "client", aud: "https://example.com", sub: "user", exp: Math.floor(Date.now() / 1000) + 300 };
   * const token = await client.assertion.getToken(claims, { algorithm: "HS256", key: secret });
   * const same = await client.assertion.getToken([claims, "HS256", secret]);
   * ```
   * @throws OAuth2UsageError `ERR_OAUTH_OPTION` when it cannot be signed, before anything is sent;
   * what `getToken` of the client throws
   */
  getToken(
    assertion: AssertionTuple,
    params?: TokenParams,
    options?: TokenOptions,
  ): Promise<AccessToken>;
  getToken(
    claims: AssertionClaims,
    encoding: AssertionEncoding,
    params?: TokenParams,
    options?: TokenOptions,
  ): Promise<AccessToken>;
  async getToken(
    claims: AssertionTuple | AssertionClaims,
    second?: TokenParams | AssertionEncoding,
    third?: TokenParams | TokenOptions,
    fourth?: TokenOptions,
  ): Promise<AccessToken> {
    if (isTuple(claims)) {
      const [set, algorithm, key] = claims;
      return this.#send(set, { algorithm, key }, { ...second }, third);
    }
    if (!isEncoding(second)) {
      throw new OAuth2UsageError("ERR_OAUTH_OPTION", "the encoding needs an algorithm and a key");
    }
    checkOptions("the encoding of an assertion", second, ["algorithm", "key", "kid"]);
    return this.#send(claims, second, third, fourth);
  }

  async #send(
    claims: AssertionClaims,
    { algorithm, key, kid }: AssertionEncoding,
    params: TokenParams = {},
    options: TokenOptions = {},
  ): Promise<AccessToken> {
    if (typeof claims !== "object" || claims === null) {
      throw optionError("the claims", typeof claims, "an object");
    }
    const assertion = await signJwt(claims, key, { algorithm, kid });
    const grant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
    return this.#client.getToken({ grant_type: grant, assertion, ...params }, options);
  }
}

function isTuple(value: AssertionTuple | AssertionClaims): value is AssertionTuple {
  return Array.isArray(value);
}

function isEncoding(
  value: TokenParams | AssertionEncoding | undefined,
): value is AssertionEncoding {
  return (
    typeof value?.["algorithm"] === "string" && value["key"] !== undefined && value["key"] !== null
  );
}
