import { errors as joseErrors, jwtVerify, SignJWT } from "jose";
import type { Account } from "./account.ts";
import { checkOptions } from "./check-options.ts";
import { checkConfigured, RestError } from "./errors.ts";
import { requireSecret } from "./require-secret.ts";

/** Claims of a valid session token. */
export interface SessionClaims {
  /** Identifier of the user. */
  readonly sub: string;
  /** {@link Account.sessionVersion} at the time of signing in. */
  readonly sv: number;
  /** End of validity, in seconds since 1970. */
  readonly exp: number;
  /** Identifier of the session. Absent in tokens that belong to none. */
  readonly sid?: string | undefined;
}

/** Signs and checks the tokens of signed-in users: JWTs with HS256 (RFC 7519; RFC 7518, 3.2). */
export interface SessionTokens {
  /** Time from issue to expiry, in seconds. */
  readonly lifetime: number;
  /** Makes a token for a user; with `account.session` it belongs to that session. */
  issue(account: Account): Promise<string>;
  /** Reads a token; `undefined` unless it is valid now and of our own signature. */
  verify(token: string): Promise<SessionClaims | undefined>;
}

/** The session tokens of an API without users: it issues none, and accepts none. */
export const noSessionTokens: SessionTokens = {
  lifetime: 0,
  issue() {
    const message = "session tokens need jwtSecret and accounts: pass both to createAuthentication";
    return Promise.reject(new RestError("ERR_REST_CONFIGURATION", message));
  },
  verify() {
    return Promise.resolve(undefined);
  },
};

/** How session tokens are made. */
export interface SessionTokensOptions {
  /** Secret of the signature: at least 32 characters. */
  readonly secret: string;
  /** Time from issue to expiry, in seconds. Default: `86_400`, one day. */
  readonly lifetime?: number | undefined;
}

/** The only accepted algorithm. A token's own header is never followed (RFC 8725, 3.1). */
const algorithm = "HS256";

/** Tokens with a valid signature are kept: it is computed per token, not per request. */
const maxRemembered = 1_000;

/** A token of ours has about 300 characters; longer ones are refused unread. */
const maxTokenLength = 2_048;

/**
 * Makes {@link SessionTokens}.
 *
 * @throws RestError `ERR_REST_CONFIGURATION` for a secret or a lifetime that cannot serve.
 */
export function createSessionTokens(options: SessionTokensOptions): SessionTokens {
  checkOptions("createSessionTokens", options, ["secret", "lifetime"]);
  const { secret, lifetime = 86_400 } = options;
  requireSecret(secret, { name: "secret", variable: "JWT_SECRET" });
  const isLifetime = Number.isSafeInteger(lifetime) && lifetime > 0;
  checkConfigured(isLifetime, "the token lifetime must be whole seconds above 0");
  const key = new TextEncoder().encode(secret);
  const remembered = new Map<string, SessionClaims>();

  return {
    lifetime,
    issue({ id, session, sessionVersion }) {
      const now = Math.floor(Date.now() / 1000);
      return new SignJWT({
        sv: sessionVersion,
        ...(session === undefined ? {} : { sid: session }),
      })
        .setProtectedHeader({ alg: algorithm, typ: "JWT" })
        .setSubject(id)
        .setIssuedAt(now)
        .setExpirationTime(now + lifetime)
        .setJti(crypto.randomUUID())
        .sign(key);
    },
    async verify(token) {
      if (token.length > maxTokenLength) return undefined;
      const known = remembered.get(token);
      if (known) {
        if (known.exp > Math.floor(Date.now() / 1000)) return known;
        remembered.delete(token);
        return undefined;
      }
      try {
        const { payload } = await jwtVerify(token, key, {
          algorithms: [algorithm],
          requiredClaims: ["sub", "iat", "exp"],
        });
        const { sub, exp } = payload;
        const { sv, sid } = payload;
        if (typeof sub !== "string" || typeof exp !== "number" || typeof sv !== "number") {
          return undefined;
        }
        const claims = { sub, exp, sv, sid: typeof sid === "string" ? sid : undefined };
        remember(token, claims);
        return claims;
      } catch (error) {
        if (error instanceof joseErrors.JOSEError) return undefined;
        throw error;
      }
    },
  };

  /** Keeps the newest; only holders of valid tokens can push others out. */
  function remember(token: string, claims: SessionClaims): void {
    const [oldest] = remembered.keys();
    if (remembered.size >= maxRemembered && oldest !== undefined) remembered.delete(oldest);
    remembered.set(token, claims);
  }
}
