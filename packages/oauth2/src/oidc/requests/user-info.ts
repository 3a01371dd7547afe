import { InvalidResponseError, optionError } from "../../errors.ts";
import { sendForm } from "../../connection/form-request.ts";
import type { AccessToken } from "../../token/access-token.ts";
import type { OAuth2Response } from "../../message/response.ts";
import { ClaimChecker } from "../jwt/check-claims.ts";
import { ChallengeError } from "../errors.ts";
import { type JsonRecord } from "../../json-record.ts";
import { parseChallenges } from "../parse-challenges.ts";
import {
  endpointUrl,
  jsonOf,
  type EndpointCallOptions,
  type ProviderClient,
} from "../provider-endpoint.ts";
import { claimTime } from "../jwt/verify-id-token.ts";
import { verifyJwt, type KeySource } from "../jwt/verify-jwt.ts";
import { checkOptions } from "../../check-options.ts";

/** Claims about the user (OIDC Core, 5.1, 5.3.2). Unlisted claims are unchanged. */
export interface UserInfo {
  /** The user, unique at the issuer. */
  readonly sub: string;
  readonly name?: string | undefined;
  readonly given_name?: string | undefined;
  readonly family_name?: string | undefined;
  readonly preferred_username?: string | undefined;
  readonly picture?: string | undefined;
  readonly locale?: string | undefined;
  readonly email?: string | undefined;
  /** Whether the provider knows that the address is the user's. */
  readonly email_verified?: boolean | undefined;
  readonly [claim: string]: unknown;
}

/** Options of {@link OidcClient.userInfo}. */
export interface UserInfoOptions extends EndpointCallOptions {
  /**
   * `sub` of the ID token; the response must have it, because the token may belong to another user
   * (OpenID Connect Core, 5.3.2). `false` when there is no ID token to compare with. Default: `sub`
   * of the ID token of the token.
   */
  readonly expectedSub?: string | false | undefined;
}

/** How a signed response is verified. */
export interface SignedResponseOptions {
  readonly key: KeySource;
  readonly algorithms: readonly string[];
  readonly clockTolerance: number;
}

const what = "the user information";

/**
 * Fetches the claims about the user (OpenID Connect Core, 5.3), as JSON or as a signed JWT, which
 * is verified.
 *
 * @throws MetadataError when the provider has no such endpoint
 * @throws ChallengeError when it refuses the token
 * @throws TokenValidationError when `sub`, or the JWT, is another than expected
 */
export async function userInfo(
  client: ProviderClient,
  token: AccessToken | string,
  options: UserInfoOptions,
  signedOptions: SignedResponseOptions,
): Promise<UserInfo> {
  checkOptions("userInfo", options, ["signal", "expectedSub"]);
  const { expectedSub, signal } = options;
  if (expectedSub !== false && (typeof expectedSub !== "string" || expectedSub === ""))
    throw optionError("expectedSub", expectedSub, "the sub of the ID token, or false");
  const value = typeof token === "string" ? token : token.token;
  if (typeof value !== "string" || !/^[A-Za-z\d\-._~+/]+=*$/.test(value))
    throw optionError("token", "empty or not an access token", "an access token");
  const isBound = typeof token === "string" || token.tokenType?.toLowerCase() === "dpop";
  const response = checkStatus(
    await sendForm(client, endpointUrl(client, "userinfo_endpoint"), {
      params: {},
      method: "get",
      headers: { accept: "application/json, application/jwt" },
      token: value,
      proof: isBound ? undefined : null,
      signal,
      snaky: false,
    }),
  );
  const claims =
    response.contentType === "application/jwt"
      ? await verifySignedResponse(response.body, client, signedOptions)
      : jsonOf(response, what);
  const check = new ClaimChecker(claims, "user information");
  check.text("sub");
  if (expectedSub !== false) check.same("sub", expectedSub);
  // `sub` has been checked; whether the rest is true is for the provider to know.
  return claims as UserInfo;
}

function checkStatus(response: OAuth2Response): OAuth2Response {
  const { status, headers } = response;
  const challenges = parseChallenges(headers.get("www-authenticate"));
  if (status >= 400 && challenges.length > 0) {
    const message = `the provider refuses the token (HTTP ${status})`;
    throw new ChallengeError(message, { challenges, response });
  }
  if (response.error !== undefined) throw response.error;
  if (status === 200) return response;
  throw new InvalidResponseError(`${what} responded with ${status}, expected 200`, { response });
}

async function verifySignedResponse(
  jwt: string,
  { id, metadata }: ProviderClient,
  { key, algorithms, clockTolerance }: SignedResponseOptions,
): Promise<JsonRecord> {
  const name = "user information";
  const { claims } = await verifyJwt(jwt.trim(), { key, algorithms, what: name });
  const check = new ClaimChecker(claims, name);
  // OpenID Connect Core, 5.3.2: a signed response should have both; those present must be valid.
  if (claims["iss"] !== undefined) check.oneOf("iss", metadata.issuer);
  if (claims["aud"] !== undefined) check.audience(id ?? "");
  check.times(claimTime({ clockTolerance }));
  return claims;
}
