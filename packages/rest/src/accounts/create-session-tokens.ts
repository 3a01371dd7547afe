import { errors as joseErrors, jwtVerify, SignJWT } from "jose";
import { RestError } from "../errors.ts";
import { checkOptions } from "../check-options.ts";
import { requireSecret } from "./require-secret.ts";
import type { SessionClaims, SessionTokens } from "../session-tokens.ts";

/** How session tokens are made. */
export interface SessionTokensOptions {
  /** Secret of the signature: at least 32 characters. */
  readonly secret: string;
  /** Time from issue to expiry, in seconds. Default: `86_400`, one day. */
  readonly lifetime?: number | undefined;
}

/** The one algorithm that is accepted. What a token's own header names is never followed (RFC 8725 section 3.1). */
const algorithm = "HS256";

/** Tokens whose signature was found valid are remembered, so that it is computed once per token and not per request. */
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
  if (!Number.isSafeInteger(lifetime) || lifetime <= 0) {
    throw new RestError(
      "ERR_REST_CONFIGURATION",
      "the token lifetime must be whole seconds above 0",
    );
  }
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
