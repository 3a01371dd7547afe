import { type Credentials, findAccessToken } from "../access-token.ts";
import { type AccessRule, bearerRequired, forbidden } from "../access.ts";
import type { Account } from "../account.ts";
import type { AttemptLimiter } from "../attempt-limiter.ts";
import type { Viewer } from "../resource/views.ts";
import { noSessionTokens, type SessionTokens } from "../session-tokens.ts";

/** Decides who a caller is. */
export interface Authentication {
  /** Signs and checks session tokens. */
  readonly tokens: SessionTokens;
  /** Slows the guessing of passwords, and of what handlers count. Default: nothing does. */
  readonly attempts?: AttemptLimiter | undefined;
  /** Rules that callers can satisfy; {@link createApi} refuses others. Default: all of them. */
  readonly rules?: readonly AccessRule[] | undefined;
  /** Whether the token of a request is the master key. */
  isMaster(credentials: Credentials): boolean;
  /**
   * Finds the caller and applies a rule to it; at once where everyone may pass and nobody shows a
   * token.
   *
   * @throws Problem 401 when the rule needs proof and there is none that holds, 403 when the caller
   * is known and may not, 400 for contradictory credentials, 429 after too many wrong passwords.
   */
  authenticate(
    rule: AccessRule,
    credentials: Credentials,
  ): Promise<Account | undefined> | undefined;
}

/** The authentication of an API for everyone: it recognizes nobody. */
export const noAuthentication: Authentication = {
  tokens: noSessionTokens,
  rules: ["public"],
  isMaster: () => false,
  authenticate(rule) {
    // Such routes are refused at start.
    if (rule !== "public") throw bearerRequired(undefined);
    return undefined;
  },
};

/**
 * Makes an {@link Authentication} of a function that finds the caller by the verified token or
 * cookies of a request. It knows no master key and no passwords: {@link createApi} refuses routes
 * that need one.
 */
export function createCustomAuthentication(
  identify: (token: string | undefined, request: Request) => Promise<Viewer["user"]>,
): Authentication {
  return {
    ...noAuthentication,
    rules: ["public", "user", "admin"],
    async authenticate(rule, credentials) {
      const token = findAccessToken(credentials);
      const caller = credentials.request && (await identify(token, credentials.request));
      const isForUsers = rule === "user" || rule === "admin";
      if (isForUsers ? !caller : rule !== "public") throw bearerRequired(token);
      if (rule === "admin" && caller?.role !== "admin") throw forbidden("only admins may do this");
      return caller && { ...caller, passwordHash: "", sessionVersion: 0 };
    },
  };
}
