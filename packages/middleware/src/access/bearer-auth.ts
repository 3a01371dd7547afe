import { createContextKey, type Context, type ContextKey, type Middleware } from "@fetchwork/http";
import {
  checkFunction,
  checkHeaderValue,
  checkNext,
  checkOptions,
  checkTexts,
  optionError,
} from "../check-options.ts";
import { refuse } from "../response/plain-response.ts";
import { jwtVerifier, type BearerKey } from "./jwt-verifier.ts";
import { place } from "../order.ts";

/** Claims of a valid token: those of a JWT (RFC 7519, 4), or the result of `verify`. */
type BearerClaims = Readonly<Record<string, unknown>>;

/**
 * Looks an opaque token up. Returns its claims; undefined, null or false when the token is not
 * valid. An error fails the request.
 */
type BearerVerifier = (
  token: string,
  request: Request,
  context: Context,
) => BearerClaims | undefined | null | false | Promise<BearerClaims | undefined | null | false>;

/** Options of {@link bearerAuth}. Exactly one of `key`, `jwksUrl` and `verify` is needed. */
export interface BearerAuthOptions {
  /**
   * Key of the JWTs: the bytes of a secret (at least 32), a public `CryptoKey`, or a function of
   * `jose` that finds a key, such as `createLocalJWKSet(…)`.
   */
  readonly key?: BearerKey | undefined;
  /** Address of the key set of the issuer, which `jose` fetches when it needs it, and keeps. */
  readonly jwksUrl?: string | URL | undefined;
  /** Checks opaque tokens instead of JWTs. Issuer, audience and times are then its job. */
  readonly verify?: BearerVerifier | undefined;
  /** `iss` of the JWTs, one or several. Required with a key. */
  readonly issuer?: string | readonly string[] | undefined;
  /** This service in `aud` of the JWTs, one name or several. Required with a key. */
  readonly audience?: string | readonly string[] | undefined;
  /**
   * Accepted `alg` of JWTs. Default: `["HS256"]` for a secret; else the signatures with public keys
   * that RFC 8725 and FAPI do not advise against: `["PS256", "ES256", "EdDSA", "RS256"]` and their
   * longer forms. `none` is never accepted.
   */
  readonly algorithms?: readonly string[] | undefined;
  /** By how much clocks may differ at `exp` and `nbf`, in seconds. Default: 0. */
  readonly clockTolerance?: number | undefined;
  /** Scopes that a token must have, all of them, in `scope` or `scp`. Default: none. */
  readonly scopes?: readonly string[] | undefined;
  /** Realm of the challenges. Default: none. */
  readonly realm?: string | undefined;
}

/** Key of the claims of the token in the context, once {@link bearerAuth} has passed a request. */
export const bearerClaimsKey: ContextKey<BearerClaims> = createContextKey("bearer claims");

/**
 * Lets requests pass that have a valid token in `Authorization: Bearer` (RFC 6750), and puts its
 * claims into the context.
 *
 * Responds with the challenges of RFC 6750, section 3: 401 without an error code when there is no
 * token; 400 `invalid_request` for a malformed header, and for a token in the query (whose URL ends
 * up in logs; RFC 9700, 4.3.2); 401 `invalid_token` for one that is not valid; 403
 * `insufficient_scope` when a scope is missing. Why a token is not valid is not said. A key set
 * that cannot be fetched fails the request: an outage must not look like a wrong token.
 *
 * JWTs need the package `jose`; `verify` does not. A JWT must have `exp`. Place it inside `cors`.
 *
 * @example
 * ```ts
 * const guard = bearerAuth({
 *   jwksUrl: "https://id.example.com/.well-known/jwks.json",
 *   issuer: "https://id.example.com",
 *   audience: "https://api.example.com",
 *   scopes: ["articles:read"],
 * });
 * const handler = wrap((_, context) => json(context.get(bearerClaimsKey)?.sub), guard);
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` for options that are missing, wrong or
 * contradictory
 */
export function bearerAuth(options: BearerAuthOptions): Middleware {
  checkOptions("bearerAuth", options, [
    "key",
    "jwksUrl",
    "verify",
    "issuer",
    "audience",
    "algorithms",
    "clockTolerance",
    "scopes",
    "realm",
  ]);
  const { scopes = [], realm } = options;
  checkTexts(scopes, "scopes");
  for (const scope of scopes) {
    if (!/^[!#-[\]-~]+$/.test(scope)) throw optionError("scope", scope, "one name (RFC 6749, 3.3)");
  }
  if (realm !== undefined) checkHeaderValue(realm, "realm");
  const verify = chooseVerifier(options);
  const challenge = challenges(realm, scopes);

  return place("bearerAuth", (next) => {
    checkNext("bearerAuth", next);
    return async (request, context) => {
      const token = findToken(request);
      if (typeof token !== "string") return challenge(token.status, token.error);
      const claims = await verify(token, request, context);
      // Anything but an object is a refusal, whatever a function without types returns.
      if (typeof claims !== "object" || claims === null) return challenge(401, "invalid_token");
      if (!hasScopes(claims, scopes)) return challenge(403, "insufficient_scope");
      context.set(bearerClaimsKey, claims);
      return await next(request, context);
    };
  });
}

function chooseVerifier(options: BearerAuthOptions): BearerVerifier {
  const { key, jwksUrl, verify, issuer, audience, algorithms, clockTolerance } = options;
  const sources = Object.entries({ key, jwksUrl, verify }).filter(([, one]) => one !== undefined);
  if (sources.length !== 1) {
    const found = sources.map(([name]) => name).join(" and ") || "none";
    throw optionError("source of validity", found, "exactly one of key, jwksUrl and verify");
  }
  if (verify === undefined) return jwtVerifier(options);
  checkFunction(verify, "verify");
  const useless = Object.entries({ issuer, audience, algorithms, clockTolerance }).find(
    ([, value]) => value !== undefined,
  );
  if (useless) throw optionError(useless[0], useless[1], "no value, because verify decides");
  return verify;
}

type BearerErrorCode = "invalid_request" | "invalid_token" | "insufficient_scope";

interface TokenRefusal {
  readonly status: 400 | 401;
  readonly error?: BearerErrorCode;
}

/** The token of a request, or why there is none (RFC 6750, 2 and 3.1). */
function findToken(request: Request): string | TokenRefusal {
  const { url } = request;
  const query = url.indexOf("?");
  if (query !== -1 && new URLSearchParams(url.slice(query)).has("access_token")) {
    return { status: 400, error: "invalid_request" };
  }
  const header = request.headers.get("authorization");
  if (header === null || !/^bearer(?: |$)/i.test(header)) return { status: 401 };
  const token = /^bearer +([\w.~+/-]+=*) *$/i.exec(header)?.[1];
  return token ?? { status: 400, error: "invalid_request" };
}

function hasScopes(claims: BearerClaims, scopes: readonly string[]): boolean {
  if (scopes.length === 0) return true;
  // RFC 8693, 4.2 has a text; some issuers have a list, or call it `scp`.
  const given = claims["scope"] ?? claims["scp"];
  const present: readonly unknown[] =
    typeof given === "string" ? given.split(" ") : Array.isArray(given) ? given : [];
  return scopes.every((scope) => present.includes(scope));
}

type Challenge = (status: 400 | 401 | 403, error?: BearerErrorCode) => Response;

function challenges(realm: string | undefined, scopes: readonly string[]): Challenge {
  const start = realm === undefined ? [] : [`realm=${quote(realm)}`];
  return (status, error) => {
    const parameters = [...start];
    if (error !== undefined) parameters.push(`error="${error}"`);
    if (error === "insufficient_scope") parameters.push(`scope="${scopes.join(" ")}"`);
    const response = refuse(status, messages[status]);
    const value = ["Bearer", parameters.join(", ")].filter((part) => part !== "").join(" ");
    response.headers.set("www-authenticate", value);
    return response;
  };
}

const messages = { 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden" } as const;

function quote(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}
