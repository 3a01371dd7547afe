import type { Account } from "./account.ts";

/** What a valid session token says. */
export interface SessionClaims {
  /** Identifier of the user. */
  readonly sub: string;
  /** {@link Account.sessionVersion} at the time of signing in. */
  readonly sv: number;
  /** End of validity, in seconds since 1970. */
  readonly exp: number;
}

/** Signs and checks the tokens of signed-in users: JWTs with HS256 (RFC 7519, RFC 7518 section 3.2). */
export interface SessionTokens {
  /** Makes a token for a user. */
  issue(account: Account): Promise<string>;
  /** Reads a token; `undefined` unless it is valid now and of our own signature. */
  verify(token: string): Promise<SessionClaims | undefined>;
}
