import { ClaimChecker } from "../jwt/check-claims.ts";
import { isJsonRecord } from "../../json-record.ts";
import { claimTime, logoutEvent } from "../jwt/verify-id-token.ts";
import { checkAlgorithms, typeOf, verifyJwt, type KeySource } from "../jwt/verify-jwt.ts";
import { checkOptions } from "../../check-options.ts";

/** Claims of a logout token (OpenID Connect Back-Channel Logout, 2.4). Has `sub`, `sid` or both. */
export interface LogoutClaims {
  readonly iss: string;
  readonly aud: string | readonly string[];
  readonly iat: number;
  readonly exp: number;
  /** Identifier of this token: remember it until `exp`, and refuse it a second time. */
  readonly jti: string;
  /** The user whose sessions end. */
  readonly sub?: string | undefined;
  /** The session that ends; without it, all of the user's. */
  readonly sid?: string | undefined;
  readonly [claim: string]: unknown;
}

/** Options of {@link verifyLogoutToken}. */
export interface VerifyLogoutTokenOptions {
  /** The issuer, exactly. */
  readonly issuer: string;
  /** Our client identifier; `aud` must have it. */
  readonly clientId: string;
  /** Keys of the issuer. */
  readonly key: KeySource;
  /** Signature algorithms that are accepted. Default: `["RS256"]`. */
  readonly algorithms?: readonly string[] | undefined;
  /** How far the issuer's clock may differ, in seconds. Default: `30`. */
  readonly clockTolerance?: number | undefined;
  /**
   * Remembers `jti` until the given time, in seconds since 1970, and returns whether it was new.
   * Default: nothing is remembered, and a token can be used again until it expires.
   */
  readonly rememberOnce?:
    ((jti: string, expiresAt: number) => boolean | Promise<boolean>) | undefined;
  /** Now, in seconds since 1970. Default: the clock. */
  readonly now?: number | undefined;
}

/** Longest time since a token was issued, in seconds. */
const maxTokenAge = 300;

/**
 * Validates the logout token that a provider posts to the back-channel logout URI (OpenID Connect
 * Back-Channel Logout, 2.6): an ID token, or any other token of the issuer, is refused.
 *
 * @throws TokenValidationError with the `claim` that is wrong
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION` for wrong options
 */
export async function verifyLogoutToken(
  logoutToken: string,
  options: VerifyLogoutTokenOptions,
): Promise<LogoutClaims> {
  checkOptions("verifyLogoutToken", options, [
    "issuer",
    "clientId",
    "key",
    "algorithms",
    "clockTolerance",
    "rememberOnce",
    "now",
  ]);
  const { issuer, clientId, key, algorithms = ["RS256"] } = options;
  checkAlgorithms(algorithms, "algorithms");
  const time = claimTime(options);
  const { header, claims } = await verifyJwt(logoutToken, {
    key,
    algorithms,
    what: "logout token",
  });
  const check = new ClaimChecker(claims, "logout token");
  // Servers older than the final text send no `typ`, or `JWT`; what it must not be is another kind
  // of token.
  const typ = typeOf(header);
  if (typ !== undefined && typ !== "logout+jwt" && typ !== "jwt")
    throw check.fail("typ", "is not logout+jwt");
  check.oneOf("iss", issuer);
  check.audience(clientId);
  const exp = check.number("exp");
  check.times(time);
  const issuedAt = check.number("iat");
  if (issuedAt > time.now + time.tolerance) throw check.fail("iat", "is not yet reached");
  if (issuedAt + maxTokenAge < time.now - time.tolerance)
    throw check.fail("iat", `is longer ago than ${maxTokenAge} s`);
  const jti = check.text("jti");
  const { events, sub, sid, nonce } = claims;
  const isLogout = isJsonRecord(events) && Object.hasOwn(events, logoutEvent);
  if (!isLogout || !isJsonRecord(events[logoutEvent]))
    throw check.fail("events", "has no back-channel logout");
  if (nonce !== undefined) throw check.fail("nonce", "must not be there");
  if (sub === undefined && sid === undefined) throw check.fail("sub", "is missing, and so is sid");
  if (sub !== undefined) check.text("sub");
  if (sid !== undefined) check.text("sid");
  const { rememberOnce } = options;
  if (rememberOnce !== undefined && !(await rememberOnce(jti, exp + time.tolerance)))
    throw check.fail("jti", "was used before");
  // Each member that the interface promises has been checked above.
  return claims as LogoutClaims;
}
