import { constantTimeEqual, parseBasicCredentials } from "@fetchwork/kit";
import { basicChallenge } from "../basic-challenge.ts";
import { type Evidence, findAccessToken } from "../access-token.ts";
import { type AccessRule, bearerRequired, forbidden } from "../access.ts";
import type { Account, AccountSource } from "../account.ts";
import { type AttemptLimiter, countAttempt } from "../attempt-limiter.ts";
import { RestError } from "../errors.ts";
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
  /** Finds the session token of a request that shows none elsewhere, such as in a cookie. Default: there is none. */
  readonly cookieToken?: ((request: Request) => string | undefined) | undefined;
  /** Whether a session has not ended, for tokens that belong to one. Default: no session ends before its tokens. */
  readonly isLive?: ((session: string) => Promise<boolean>) | undefined;
}

/** Finds the accounts of API keys. */
export interface KeySource {
  /** Whether a token has the form of a key. Nothing is verified yet. */
  isKey(token: string): boolean;
  /** Finds the account of a key, with what the key is limited to; `undefined` where it does not hold. */
  accountOf(key: string): Promise<Account | undefined>;
}

/** Passwords that one network may have checked at once, so that it does not take all the turns there are. */
const maxAtOnce = 4;

/**
 * Makes an {@link Authentication}: with users, or with a master key alone.
 *
 * @throws RestError `ERR_REST_CONFIGURATION` for a key or secret that is too short, for the same one twice, and for
 * options that need users where there are none.
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
  const { cookieToken, isLive = alwaysLive, keys } = options;
  requireSecret(masterKey, { name: "masterKey", variable: "MASTER_KEY" });
  if (masterKey === jwtSecret) {
    throw new RestError("ERR_REST_CONFIGURATION", "the master key and the JWT secret must differ");
  }
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
    isMaster(evidence) {
      const token = findAccessToken(evidence);
      return token !== undefined && isMasterKey(token);
    },
    admit(rule, evidence) {
      const token = findAccessToken(evidence) ?? tokenInCookie(evidence);
      if (rule === "public")
        return token === undefined ? undefined : accountOrNone(token, evidence);
      return admitCaller(rule, evidence, token);
    },
  };

  function tokenInCookie({ request }: Evidence): string | undefined {
    return request && cookieToken?.(request);
  }

  /** To the public, a key that does not suffice is none. */
  async function accountOrNone(token: string, evidence: Evidence): Promise<Account | undefined> {
    const account = await accountOf(token);
    return account && isInScope(account, evidence.scope) ? account : undefined;
  }

  async function admitCaller(
    rule: Exclude<AccessRule, "public">,
    evidence: Evidence,
    token: string | undefined,
  ): Promise<Account | undefined> {
    if (rule === "master" || rule === "master+password") {
      if (token === undefined) throw bearerRequired(token, "the master key is required");
      if (!isMasterKey(token)) {
        throw (await accountOf(token))
          ? forbidden("the master key is required")
          : bearerRequired(token, "invalid master key");
      }
      return rule === "master" ? undefined : await accountOfPassword(evidence, "first");
    }
    if (rule === "password") {
      const isMaster = token !== undefined && isMasterKey(token);
      return accountOfPassword(evidence, isMaster ? "first" : "last");
    }
    const account = token === undefined ? undefined : await accountOf(token);
    if (!account) throw bearerRequired(token);
    if (!isInScope(account, evidence.scope)) throw outOfScope(evidence.scope);
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

  /** Holders of the master key are served first, so that nobody else can keep them from signing users in. */
  async function accountOfPassword(evidence: Evidence, turn: Turn): Promise<Account> {
    const credentials = parseBasicCredentials(evidence.authorization);
    if (!credentials) throw passwordRequired();
    const email = credentials.username.trim().toLowerCase();
    const by = {
      account: email,
      address: evidence.address,
      // Holders of the master key sign in for many, so their network is not that of one client.
      atOnce: turn === "last" ? maxAtOnce : undefined,
    };
    const found = await countAttempt(attempts, by, async () => {
      const account = await accounts?.byEmail(email);
      const matches = await verifyPassword(credentials.password, account?.passwordHash, turn);
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
  if (accounts === undefined) {
    const message = `${given} is given without accounts: pass jwtSecret and accounts, or masterKey alone`;
    throw new RestError("ERR_REST_CONFIGURATION", message);
  }
  requireSecret(jwtSecret, { name: "jwtSecret", variable: "JWT_SECRET" });
  return jwtSecret;
}

/** Whether what an account is limited to, as by an API key, covers what a route does. */
function isInScope({ scopes }: Account, needed: string | undefined): boolean {
  if (scopes === undefined) return true;
  if (needed === undefined) return false;
  return scopes.includes(needed) || scopes.includes(needed.replace(/^[^:]*/, "*"));
}

/** RFC 6750 section 3.1. */
function outOfScope(scope = ""): Problem {
  return new Problem(403, {
    detail: `the API key lacks the scope ${scope}`,
    headers: {
      "www-authenticate": `Bearer realm="api", error="insufficient_scope", scope="${scope}"`,
    },
  });
}

function alwaysLive(): Promise<boolean> {
  return Promise.resolve(true);
}

/** Asks for email and password; the answer is the same for a wrong one and for an unknown user. */
export function passwordRequired(): Problem {
  return new Problem(401, {
    detail: "wrong email or password",
    headers: basicChallenge,
  });
}
