import { optionError } from "../../errors.ts";
import { ClaimChecker, type ClaimTime } from "./check-claims.ts";
import { encodeBase64Url } from "@fetchwork/kit";
import { isJsonRecord, type JsonRecord } from "../../json-record.ts";
import { checkAlgorithms, typeOf, verifyJwt, type KeySource } from "./verify-jwt.ts";
import { checkOptions } from "../../check-options.ts";

/** Member of `events` that makes a logout token (OIDC Back-Channel Logout, 2.4). */
export const logoutEvent: string = "http://schemas.openid.net/event/backchannel-logout";

/** Claims of an ID token (OpenID Connect Core, 2). Unlisted claims are kept unchanged. */
export interface IdTokenClaims {
  /** Issuer. */
  readonly iss: string;
  /** The user, unique at the issuer, never reused. Keep `iss` and `sub`, not email. */
  readonly sub: string;
  /** The audience of the token; has our client identifier. */
  readonly aud: string | readonly string[];
  /** End of its life, in seconds since 1970. */
  readonly exp: number;
  /** When it was issued, in seconds since 1970. */
  readonly iat: number;
  /** When the user signed in, in seconds since 1970. */
  readonly auth_time?: number | undefined;
  readonly nonce?: string | undefined;
  /** Class of the authentication. */
  readonly acr?: string | undefined;
  /** Methods of the authentication (RFC 8176). */
  readonly amr?: readonly string[] | undefined;
  /** Client that the token was issued to, when it has several audiences. */
  readonly azp?: string | undefined;
  /** Session at the provider; back-channel logout names it. */
  readonly sid?: string | undefined;
  readonly [claim: string]: unknown;
}

/** Options of {@link verifyIdToken}. */
export interface VerifyIdTokenOptions {
  /**
   * The issuer, exactly. A function gets the claims, which are signed but not checked yet, for
   * providers whose issuer depends on them; `undefined` refuses the token.
   */
  readonly issuer: string | ((claims: JsonRecord) => string | undefined);
  /** Our client identifier; `aud` must have it. */
  readonly clientId: string;
  /** Keys of the issuer: {@link RemoteJwks}, a key, the secret (`HS256`), a function. */
  readonly key: KeySource;
  /** Signature algorithms that are accepted. Default: `["RS256"]`. */
  readonly algorithms?: readonly string[] | undefined;
  /** Nonce of the request; `false`: unchecked. Default: none; a token with one is refused. */
  readonly nonce?: string | false | undefined;
  /** Longest time since the user signed in, in seconds; requires `auth_time`. Default: any. */
  readonly maxAge?: number | undefined;
  /** Classes of which `acr` must be one. Default: any. */
  readonly acrValues?: readonly string[] | undefined;
  /** The access token that came with it; compared with `at_hash` when that is there. */
  readonly accessToken?: string | undefined;
  /** The code that it was issued for; compared with `c_hash` when that is there. */
  readonly code?: string | undefined;
  /** How far the issuer's clock may differ, in seconds. Default: `30`. */
  readonly clockTolerance?: number | undefined;
  /** Now, in seconds since 1970. Default: the clock. */
  readonly now?: number | undefined;
}

/** Header types of tokens that are not ID tokens. */
const otherTypes: ReadonlySet<string> = new Set([
  "at+jwt",
  "logout+jwt",
  "dpop+jwt",
  "secevent+jwt",
  "token-introspection+jwt",
  "oauth-authz-req+jwt",
]);

/**
 * Validates an ID token (OpenID Connect Core, 3.1.3.7): signature, `iss`, `aud`, `azp`, `exp`,
 * `nbf`, `iat`, `sub`, `nonce`, and, where asked for, `auth_time`, `acr`, `at_hash` and `c_hash`.
 * Encrypted tokens are refused.
 *
 * @throws TokenValidationError with the `claim` that is wrong
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION` for wrong options
 */
export async function verifyIdToken(
  idToken: string,
  options: VerifyIdTokenOptions,
): Promise<IdTokenClaims> {
  checkOptions("verifyIdToken", options, [
    "issuer",
    "clientId",
    "key",
    "algorithms",
    "nonce",
    "maxAge",
    "acrValues",
    "accessToken",
    "code",
    "clockTolerance",
    "now",
  ]);
  const { key, algorithms = ["RS256"], accessToken, code } = options;
  checkAlgorithms(algorithms, "algorithms");
  if (typeof options.clientId !== "string" || options.clientId === "")
    throw optionError("clientId", options.clientId, "the client identifier");
  if (options.nonce === "") throw optionError("nonce", "", "a nonce that is not empty");
  if (options.maxAge !== undefined && !(options.maxAge >= 0))
    throw optionError("maxAge", options.maxAge, "seconds, at least 0");
  const { header, claims } = await verifyJwt(idToken, { key, algorithms, what: "ID token" });
  const check = new ClaimChecker(claims, "ID token");
  // RFC 8725, 3.11 and 3.12: another token of the same issuer must not pass for an ID token.
  if (otherTypes.has(typeOf(header) ?? ""))
    throw check.fail("typ", "is the type of another kind of token");
  // Logout tokens of servers older than its final text do not state their type in the header.
  const { events } = claims;
  if (isJsonRecord(events) && Object.hasOwn(events, logoutEvent))
    throw check.fail("events", "is that of a logout token");
  checkClaims(claims, check, options);
  const hashes = [
    ["at_hash", accessToken],
    ["c_hash", code],
  ] as const;
  for (const [claim, value] of hashes) {
    if (value === undefined || claims[claim] === undefined) continue;
    const expected = await hashClaim(header.alg, value);
    if (expected !== undefined) check.same(claim, expected);
  }
  // Each member that the interface promises has been checked above.
  return claims as IdTokenClaims;
}

/** Now and the tolerance, of options or their defaults. */
export function claimTime(options: {
  readonly clockTolerance?: number | undefined;
  readonly now?: number | undefined;
}): ClaimTime {
  const { clockTolerance: tolerance = 30, now = Math.floor(Date.now() / 1000) } = options;
  if (!Number.isFinite(tolerance) || tolerance < 0)
    throw optionError("clockTolerance", tolerance, "seconds, at least 0");
  return { now, tolerance };
}

/** Demands on the claims of an ID token about its sign-in. */
export interface SignInChecks extends ClaimTime {
  readonly nonce: string | false | undefined;
  readonly maxAge: number | undefined;
  readonly acrValues?: readonly string[] | undefined;
}

/**
 * Checks the claims that tie an ID token to one sign-in: `nonce`, `auth_time`, `acr`.
 *
 * @throws TokenValidationError
 */
export function checkSignIn(claims: JsonRecord, checks: SignInChecks): void {
  const { nonce, maxAge, acrValues, now, tolerance } = checks;
  const check = new ClaimChecker(claims, "ID token");
  if (typeof nonce === "string") check.same("nonce", nonce);
  else if (nonce === undefined && claims["nonce"] !== undefined)
    throw check.fail("nonce", "was not asked for");
  const authTime = check.optionalNumber("auth_time");
  if (acrValues !== undefined) check.oneOf("acr", acrValues);
  if (maxAge === undefined) return;
  if (authTime === undefined) throw check.fail("auth_time", "is missing");
  if (authTime + maxAge < now - tolerance)
    throw check.fail("auth_time", `is longer ago than ${maxAge} s`);
}

function checkClaims(claims: JsonRecord, check: ClaimChecker, options: VerifyIdTokenOptions): void {
  const { issuer, clientId, nonce, maxAge, acrValues } = options;
  const time = claimTime(options);
  const expected = typeof issuer === "function" ? issuer(claims) : issuer;
  if (expected === undefined) throw check.fail("iss", "is not the expected issuer");
  check.oneOf("iss", expected);
  check.audience(clientId);
  const { aud } = claims;
  // Further audiences are trusted only when `azp` says that the token was issued to this client.
  if (Array.isArray(aud) && aud.length !== 1) check.oneOf("azp", clientId);
  check.number("exp");
  check.times(time);
  check.number("iat");
  check.text("sub");
  checkSignIn(claims, { nonce, maxAge, acrValues, ...time });
}

/**
 * Computes `at_hash` or `c_hash`: the left half of the hash that the signature algorithm uses, in
 * base64url (OpenID Connect Core, 3.1.3.6).
 *
 * @returns `undefined` for algorithms without such a hash
 */
async function hashClaim(algorithm: string, value: string): Promise<string | undefined> {
  const name = hashName(algorithm);
  if (name === undefined) return undefined;
  const digest = new Uint8Array(await crypto.subtle.digest(name, new TextEncoder().encode(value)));
  return encodeBase64Url(digest.subarray(0, digest.length / 2));
}

function hashName(algorithm: string): string | undefined {
  // Ed25519 signs with SHA-512 inside.
  if (algorithm === "EdDSA" || algorithm === "Ed25519") return "SHA-512";
  const size = /^(?:HS|RS|PS|ES)(256|384|512)$/.exec(algorithm)?.[1];
  return size === undefined ? undefined : `SHA-${size}`;
}
