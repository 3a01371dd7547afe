import { constantTimeEqual, parseBasicCredentials } from "@fetchwork/kit";
import { type Evidence, findAccessToken } from "../access-token.ts";
import { type AccessRule, bearerRequired, forbidden } from "../access.ts";
import type { Account, AccountSource } from "../account.ts";
import type { AttemptLimiter } from "../attempt-limiter.ts";
import { RestError } from "../errors.ts";
import type { Authentication } from "../http/authentication.ts";
import { optionNames, refuseUnknownOptions } from "../known-options.ts";
import { Problem } from "../problem.ts";
import type { Turn } from "./argon2.ts";
import { createSessionTokens } from "./create-session-tokens.ts";
import { verifyPassword } from "./password.ts";

/** Secrets and users of an API. */
export interface AuthenticationOptions {
  /** Key that opens the routes of rule `master`. At least 32 characters. */
  readonly masterKey: string;
  /** Secret that signs session tokens. At least 32 characters. */
  readonly jwtSecret: string;
  /** Validity of a session token in seconds. Default: `86_400`, one day. */
  readonly tokenLifetime?: number | undefined;
  /** Where users are found. */
  readonly accounts: AccountSource;
  /** Slows the guessing of passwords down. Default: nothing does. */
  readonly attempts?: AttemptLimiter | undefined;
}

const authenticationOptions = optionNames<AuthenticationOptions>({
  masterKey: true,
  jwtSecret: true,
  tokenLifetime: true,
  accounts: true,
  attempts: true,
});

/** Passwords that one network may have checked at once, so that it does not take all the turns there are. */
const maxAtOnce = 4;

/**
 * Makes an {@link Authentication}.
 *
 * @throws RestError `ERR_REST_CONFIGURATION` for a key or secret that is too short, and for the same one twice.
 */
export function createAuthentication(options: AuthenticationOptions): Authentication {
  const known = { owner: "createAuthentication", names: authenticationOptions };
  refuseUnknownOptions(options, known, "ERR_REST_CONFIGURATION");
  const { masterKey, jwtSecret, tokenLifetime, accounts, attempts } = options;
  // Programs without types may leave it out.
  if (typeof (masterKey as unknown) !== "string" || masterKey.length < 32) {
    throw new RestError("ERR_REST_CONFIGURATION", "the master key needs at least 32 characters");
  }
  if (masterKey === jwtSecret) {
    throw new RestError("ERR_REST_CONFIGURATION", "the master key and the JWT secret must differ");
  }
  const isMasterKey = (token: string): boolean => constantTimeEqual(token, masterKey);
  const tokens = createSessionTokens({ secret: jwtSecret, lifetime: tokenLifetime });

  return {
    tokens,
    attempts,
    isMaster(evidence) {
      const token = findAccessToken(evidence);
      return token !== undefined && isMasterKey(token);
    },
    admit(rule, evidence) {
      const token = findAccessToken(evidence);
      if (rule === "public") return token === undefined ? undefined : accountOf(token);
      return admitCaller(rule, evidence, token);
    },
  };

  async function admitCaller(
    rule: Exclude<AccessRule, "public">,
    evidence: Evidence,
    token: string | undefined,
  ): Promise<Account | undefined> {
    if (rule === "master" || rule === "master+password") {
      if (token === undefined) throw bearerRequired(token);
      if (!isMasterKey(token)) {
        throw (await accountOf(token))
          ? forbidden("the master key is needed")
          : bearerRequired(token);
      }
      return rule === "master" ? undefined : await accountOfPassword(evidence, "first");
    }
    if (rule === "password") return accountOfPassword(evidence, "last");
    const account = token === undefined ? undefined : await accountOf(token);
    if (!account) throw bearerRequired(token);
    if (rule === "admin" && account.role !== "admin") throw forbidden("only admins may do this");
    return account;
  }

  async function accountOf(token: string): Promise<Account | undefined> {
    const claims = await tokens.verify(token);
    if (!claims) return undefined;
    const account = await accounts.byId(claims.sub);
    return account?.sessionVersion === claims.sv ? account : undefined;
  }

  /** Holders of the master key are served first, so that nobody else can keep them from signing users in. */
  async function accountOfPassword(evidence: Evidence, turn: Turn): Promise<Account> {
    const credentials = parseBasicCredentials(evidence.authorization);
    if (!credentials) throw passwordRequired();
    const email = credentials.username.trim().toLowerCase();
    const attempt = await attempts?.begin({
      account: email,
      address: evidence.address,
      // Holders of the master key sign in for many, so theirs is no network of one client.
      atOnce: turn === "last" ? maxAtOnce : undefined,
    });
    let outcome: "success" | "failure" | "neither" = "neither";
    try {
      const account = await accounts.byEmail(email);
      const matches = await verifyPassword(credentials.password, account?.passwordHash, turn);
      outcome = account && matches ? "success" : "failure";
      if (account && matches) return account;
    } finally {
      await attempt?.end(outcome);
    }
    throw passwordRequired();
  }
}

function passwordRequired(): Problem {
  return new Problem(401, {
    detail: "email and password are required and must be right",
    headers: { "www-authenticate": 'Basic realm="api", charset="UTF-8"' },
  });
}
