import { constantTimeEqual, parseBasicCredentials } from "@fetchwork/kit";
import { basicChallenge } from "../basic-challenge.ts";
import { type Credentials, findAccessToken } from "../access-token.ts";
import { type AccessRule, bearerRequired, forbidden } from "../access.ts";
import { type Account, type AccountSource, isInScope } from "../account.ts";
import { type AttemptLimiter, countAttempt } from "../attempt-limiter.ts";
import { checkConfigured } from "../errors.ts";
import type { Authentication } from "../http/authentication.ts";
import { checkOptions } from "../check-options.ts";
import { Problem } from "../problem.ts";
import { createSessionTokens, noSessionTokens } from "../session-tokens.ts";
import type { Turn } from "./argon2.ts";
import { verifyPassword } from "./password.ts";
import { requireSecret } from "../require-secret.ts";

/** Secrets and users of an API. An API without users has the master key alone. */
export interface AuthenticationOptions {
  /** Key that opens the routes of rule `master`. At least 32 characters. */
  readonly masterKey: string;
  /** Secret that signs session tokens. At least 32 characters. Default: the API has no users. */
  readonly jwtSecret?: string | undefined;
  /** Validity of a session token in seconds. Default: `86_400`, one day. */
  readonly tokenLifetime?: number | undefined;
  /** Finds users; needs `jwtSecret`. Default: the API has no users. */
  readonly accounts?: AccountSource | undefined;
  /** Slows the guessing of passwords down. Default: nothing does. */
  readonly attempts?: AttemptLimiter | undefined;
  /** Finds the accounts of API keys. Default: none is taken. */
  readonly keys?: KeySource | undefined;
  /** Finds the session token of a request without one, such as in a cookie. Default: none. */
  readonly cookieToken?: ((request: Request) => string | undefined) | undefined;
  /** Whether the session of a token has not ended. Default: sessions end with their tokens. */
  readonly isLive?: ((session: string) => Promise<boolean>) | undefined;
}

/** Finds the accounts of API keys. */
export interface KeySource {
  /** Whether a token has the form of a key. Nothing is verified yet. */
  isKey(token: string): boolean;
  /** Finds the account of a key, and the key's scopes; `undefined` for an invalid one. */
  accountOf(key: string): Promise<Account | undefined>;
}

/** Passwords of one network that may be checked at once, so that others get their turns. */
const maxAtOnce = 4;

/**
 * Makes an {@link Authentication}: with users, or with a master key alone.
 *
 * @throws RestError `ERR_REST_CONFIGURATION` for a key or secret that is too short, for the same
 * one twice, and for options that need users where there are none.
 *
 * @example
 * ```ts
 * const authentication = createAuthentication({ masterKey: process.env["MASTER_KEY"] ?? "" });
 * ```
 */
export function createAuthentication(options: AuthenticationOptions): Authentication {
  checkOptions("createAuthentication", options, [
    "masterKey",
    "jwtSecret",
    "tokenLifetime",
    "accounts",
    "attempts",
    "keys",
    "cookieToken",
    "isLive",
  ]);
  const { masterKey, jwtSecret, tokenLifetime, accounts, attempts } = options;
  const { cookieToken, isLive = () => true, keys } = options;
  requireSecret(masterKey, { name: "masterKey", variable: "MASTER_KEY" });
  checkConfigured(masterKey !== jwtSecret, "the master key and the JWT secret must differ");
  const isMasterKey = (token: string): boolean => constantTimeEqual(token, masterKey);
  const secret = secretOfUsers(options);
  const tokens =
    secret === undefined
      ? noSessionTokens
      : createSessionTokens({ secret, lifetime: tokenLifetime });

  return {
    tokens,
    attempts,
    rules: secret === undefined ? ["public", "master"] : undefined,
    isMaster(credentials) {
      const token = findAccessToken(credentials);
      return token !== undefined && isMasterKey(token);
    },
    authenticate(rule, credentials) {
      const token = findAccessToken(credentials) ?? tokenInCookie(credentials);
      if (rule === "public")
        return token === undefined ? undefined : accountOrNone(token, credentials);
      return authenticateCaller(rule, credentials, token);
    },
  };

  function tokenInCookie({ request }: Credentials): string | undefined {
    return request && cookieToken?.(request);
  }

  /** To the public, a key that does not suffice is none. */
  async function accountOrNone(token: string, { needsScope, scope }: Credentials) {
    const account = await accountOf(token);
    if (!account || isInScope(account, scope)) return account;
    if (needsScope === true) throw outOfScope(scope);
    return undefined;
  }

  async function authenticateCaller(
    rule: Exclude<AccessRule, "public">,
    credentials: Credentials,
    token: string | undefined,
  ): Promise<Account | undefined> {
    if (rule === "master" || rule === "master+password") {
      if (token === undefined) throw bearerRequired(token, "the master key is required");
      if (!isMasterKey(token)) {
        throw (await accountOf(token))
          ? forbidden("the master key is required")
          : bearerRequired(token, "invalid master key");
      }
      return rule === "master" ? undefined : await accountOfPassword(credentials, "first");
    }
    if (rule === "password") {
      const isMaster = token !== undefined && isMasterKey(token);
      return accountOfPassword(credentials, isMaster ? "first" : "last");
    }
    const account = token === undefined ? undefined : await accountOf(token);
    if (!account) throw bearerRequired(token);
    if (!isInScope(account, credentials.scope)) throw outOfScope(credentials.scope);
    if (rule === "admin" && account.role !== "admin") throw forbidden("only admins may do this");
    return account;
  }

  async function accountOf(token: string): Promise<Account | undefined> {
    if (keys?.isKey(token)) return keys.accountOf(token);
    const claims = await tokens.verify(token);
    if (!claims) return undefined;
    const { sid, sub, sv } = claims;
    const [account, hasSession] = await Promise.all([
      accounts?.byId(sub),
      sid === undefined || isLive(sid),
    ]);
    if (account?.sessionVersion !== sv || !hasSession) return undefined;
    return sid === undefined ? account : { ...account, session: sid };
  }

  /** Holders of the master key are served first, so that nobody keeps them from their sign-in. */
  async function accountOfPassword(credentials: Credentials, turn: Turn): Promise<Account> {
    const basic = parseBasicCredentials(credentials.authorization);
    if (!basic) throw passwordRequired();
    const email = basic.username.trim().toLowerCase();
    const by = {
      account: email,
      address: credentials.address,
      // Holders of the master key sign in for many, so their network is not that of one client.
      atOnce: turn === "last" ? maxAtOnce : undefined,
    };
    const found = await countAttempt(attempts, by, async () => {
      const account = await accounts?.byEmail(email);
      const matches = await verifyPassword(basic.password, account?.passwordHash, turn);
      return matches ? account : undefined;
    });
    if (found === undefined) throw passwordRequired();
    return found;
  }
}

/**
 * Returns the secret of session tokens; `undefined` where no option is about users.
 *
 * @throws RestError `ERR_REST_CONFIGURATION` where something of users is missing.
 */
function secretOfUsers({
  accounts,
  jwtSecret,
  ...others
}: AuthenticationOptions): string | undefined {
  const ofUsers = { accounts, jwtSecret, ...others, masterKey: undefined };
  const [given] = Object.entries(ofUsers).flatMap(([name, value]) =>
    value === undefined ? [] : [name],
  );
  if (given === undefined) return undefined;
  checkConfigured(
    accounts !== undefined,
    `${given} is given without accounts: pass jwtSecret and accounts, or masterKey alone`,
  );
  requireSecret(jwtSecret, { name: "jwtSecret", variable: "JWT_SECRET" });
  return jwtSecret;
}

/** RFC 6750 section 3.1. */
function outOfScope(scope = ""): Problem {
  const challenge = `Bearer realm="api", error="insufficient_scope", scope="${scope}"`;
  const headers = { "www-authenticate": challenge };
  return new Problem(403, { detail: `the API key lacks the scope ${scope}`, headers });
}

/**
 * Asks for email and password; the response is the same for a wrong one and for an unknown user.
 */
export function passwordRequired(): Problem {
  return new Problem(401, {
    detail: "wrong email or password",
    headers: basicChallenge,
  });
}
