import type { Account } from "./account.ts";
import { RestError } from "./errors.ts";

/** What a valid session token says. */
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

/** Signs and checks the tokens of signed-in users: JWTs with HS256 (RFC 7519, RFC 7518 section 3.2). */
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
