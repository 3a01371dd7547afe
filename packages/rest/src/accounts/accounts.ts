import { hkdfSync } from "node:crypto";
import type { Store, StoreOptions } from "@fetchwork/documents";
import type { Account, AccountSource } from "../account.ts";
import { type AttemptLimiter, createAttemptLimiter } from "../attempt-limiter.ts";
import { checkOptions } from "../check-options.ts";
import { checkConfigured } from "../errors.ts";
import type { Authentication } from "../http/authentication.ts";
import type { AccountRoute } from "./account-route.ts";
import type { AccountsContext, OpenTo } from "./accounts-context.ts";
import { createAuthentication } from "./create-authentication.ts";
import { apiKeyCollection } from "./keys/api-key.ts";
import { createApiKeys } from "./keys/api-keys.ts";
import { keyRoutes } from "./keys/key-routes.ts";
import { createAccountMails, type Mailer } from "./mails/account-mails.ts";
import { emailRoutes } from "./mails/email-routes.ts";
import { accountTexts, type AccountTexts } from "./mails/mail-texts.ts";
import { emailChanges, passwordResets } from "./mails/mailed-tokens.ts";
import { passwordResetRoutes } from "./mails/password-reset-routes.ts";
import { challengeCollection, passkeyCollection } from "./passkeys/passkey.ts";
import { passkeyRoutes } from "./passkeys/passkey-routes.ts";
import { createPasskeys } from "./passkeys/passkeys.ts";
import { identityCollection, keptTokenCollection } from "./providers/identity.ts";
import { createSecondFactors, secondFactorCollection } from "./second-factor/second-factors.ts";
import { secondFactorRoutes } from "./second-factor/second-factor-routes.ts";
import { authRoutes } from "./sessions/auth-routes.ts";
import { createPageCookie } from "./sessions/page-cookie.ts";
import { createRefreshTokens } from "./sessions/refresh-token.ts";
import { sessionCollection } from "./sessions/session.ts";
import { sessionRoutes } from "./sessions/session-routes.ts";
import { createSessions } from "./sessions/sessions.ts";
import type { StoredUser, UserResource } from "./users/define-user.ts";
import { forgettingUsers } from "./users/forget-user.ts";
import { userRoutes } from "./users/user-routes.ts";

/** Options of accounts. */
export interface AccountsOptions<Own extends object = object, Given = unknown> {
  /** The users, as `defineUser` makes them. */
  readonly user: UserResource<Own, Given>;
  /**
   * Callers who may create users: holders of the master key, or everyone. An open sign-up never
   * sets a role and is limited for each network. Its address is unverified until it is confirmed.
   * Default: `"master"`.
   */
  readonly signUp?: OpenTo | undefined;
  /** Callers who may sign users in: holders of the master key, or everyone. Default: `"master"`. */
  readonly signIn?: OpenTo | undefined;
  /** Mails of your own in the place of those that come with the package. Default: none. */
  readonly texts?: Partial<AccountTexts> | undefined;
  /** Routes in the place of those of the package. Default: none. */
  readonly parts?: Partial<AccountParts> | undefined;
}

/** How many sign-ups of a network are taken where no limiter is given; delays are in seconds. */
const signUpRule = { limit: 100, firstDelay: 10, maxDelay: 60 };

/** The routes of accounts, part by part. */
export interface AccountParts {
  /** `/users`, with passwords and roles. */
  readonly users: (context: AccountsContext) => readonly AccountRoute[];
  /** `/auth`, sessions, keys, second factors, passkeys, addresses and lost passwords. */
  readonly auth: (context: AccountsContext) => readonly AccountRoute[];
}

/** Secrets and surroundings of accounts, which differ from one deployment to another. */
export interface AccountsSettings {
  /** Creates users and authenticates unless sign-in is public. From 32 characters. */
  readonly masterKey: string;
  /** Secret of tokens and codes, from 32 characters. A new one ends all sessions. */
  readonly jwtSecret: string;
  /** Validity of a session token, in seconds. Default: `86_400`, one day. */
  readonly tokenLifetime?: number | undefined;
  /** Name of the application, in mails and authenticators. */
  readonly title: string;
  /** Origin under which browsers reach the API: `https://example.com`. Default: no passkeys. */
  readonly origin?: string | undefined;
  /** Sends mails. Without it addresses are not confirmed or changed, and no password is reset. */
  readonly mailer?: Mailer | undefined;
  /** Origins that links in mails may lead to. Default: all. */
  readonly linkOrigins?: readonly string[] | undefined;
  /** Slows the guessing of passwords and codes. Default: nothing does. */
  readonly attempts?: AttemptLimiter | undefined;
  /**
   * Limits open sign-ups, for each network and whatever becomes of them. Default: 100, then one
   * every 10 seconds to a minute until there was none for an hour; each process counts for itself.
   */
  readonly signUpLimiter?: AttemptLimiter | undefined;
  /** Limits how often mails are asked for. Default: nothing does. */
  readonly mailLimiter?: AttemptLimiter | undefined;
  /** Receives why a mail was given up. Default: `console.error`. */
  readonly report?: ((error: unknown) => void) | undefined;
}

/** Accounts on a store. */
export interface OpenAccounts<Own extends object = object, Given = unknown> {
  /** Routes of users, sessions, keys, mails, factors, passkeys and providers. */
  readonly routes: readonly AccountRoute<Own, Given>[];
  /** For `createApi`: recognizes tokens, cookies, API keys and the master key. */
  readonly authentication: Authentication;
  /** Parts that the routes work with, for further routes. */
  readonly context: AccountsContext;
  /** Sends mails that wait, also those of a process that ended. */
  start(): void;
  /** Stops; mails that are not sent stay queued. */
  stop(): Promise<void>;
}

/** Users, and the ways in which they sign in. */
export interface Accounts<Own extends object = object, Given = unknown> {
  /** The users as a resource, for relations and the list of resources. */
  readonly user: UserResource<Own, Given>;
  /** Collections of accounts, next to the users; for `openStore`. */
  readonly collections: NonNullable<StoreOptions["collections"]>;
  /** Begins to work on a store. */
  open(store: Store, settings: AccountsSettings): OpenAccounts<Own, Given>;
}

/**
 * Makes accounts: users as a resource, signing in by password, second factor and passkey, sessions
 * with refresh tokens that rotate, API keys, sign-up, change of address, and lost passwords.
 *
 * @throws RestError `ERR_REST_CONFIGURATION` for options that do not fit.
 *
 * @example
 * ```ts
 * const { collections, open } = accounts({ user: defineUser(), signUp: "public", signIn: "public" });
 * const { authentication, routes } = open(store, { masterKey, jwtSecret, title: "Blog", origin });
 * ```
 */
export function accounts<Own extends object = object, Given = unknown>(
  options: AccountsOptions<Own, Given>,
): Accounts<Own, Given> {
  checkOptions("accounts", options, ["user", "signUp", "signIn", "texts", "parts"]);
  const { parts = {}, signIn = "master", signUp = "master" } = options;
  const { user } = options;
  for (const [name, value] of Object.entries({ signIn, signUp })) {
    const isKnown = value === "master" || value === "public";
    checkConfigured(isKnown, `${name} must be "master" or "public", got ${JSON.stringify(value)}`);
  }
  const texts = { ...accountTexts, ...options.texts };
  const { auth = accountAuthRoutes, users = userRoutes } = parts;

  return {
    user,
    collections: [
      sessionCollection,
      apiKeyCollection,
      secondFactorCollection,
      passkeyCollection,
      challengeCollection,
      emailChanges.collection,
      passwordResets.collection,
      identityCollection,
      keptTokenCollection,
    ],
    open(store, settings) {
      checkOptions("open of accounts", settings, [
        "masterKey",
        "jwtSecret",
        "tokenLifetime",
        "title",
        "origin",
        "mailer",
        "linkOrigins",
        "attempts",
        "signUpLimiter",
        "mailLimiter",
        "report",
      ]);
      const { attempts, jwtSecret, linkOrigins, mailer, mailLimiter, masterKey } = settings;
      const { signUpLimiter = createAttemptLimiter(signUpRule) } = settings;
      const { origin, report = console.error, title, tokenLifetime } = settings;
      const origins = [origin ?? [], linkOrigins ?? []].flat();
      const wrong = origins.find((one) => !URL.canParse(one) || new URL(one).origin !== one);
      checkConfigured(wrong === undefined, `invalid origin "${wrong}": expected https://a.example`);
      const source = accountSource(store, user, { confirms: mailer !== undefined });
      const accountOf = (id: string): Promise<Account | undefined> => source.byId(id);
      const keys = createApiKeys(store, user, accountOf);
      const isSecure = origin?.startsWith("https:") === true;
      const cookie = createPageCookie({ isSecure });
      const authentication = createAuthentication({
        masterKey,
        jwtSecret,
        tokenLifetime,
        accounts: source,
        attempts,
        keys,
        cookieToken: (request) => cookie.read(request),
        isLive: (session) => sessions.isLive(session),
      });
      const sessions = createSessions({
        store,
        users: user,
        tokens: authentication.tokens,
        refreshTokens: createRefreshTokens(derivedKey(jwtSecret, "refresh tokens")),
        accountOf,
      });
      const key = derivedKey(jwtSecret, "second factors");
      const mails = mailer && createAccountMails({ store, user, mailer, texts, title, report });
      const context: AccountsContext = {
        user: forgettingUsers(user),
        store,
        signUp,
        signIn,
        isSecure,
        sessions,
        keys,
        factors: createSecondFactors({ store, users: user, key, issuer: title }),
        passkeys:
          origin === undefined ? undefined : createPasskeys({ store, users: user, origin, title }),
        mails,
        linkOrigins,
        mailLimiter,
        signUpLimiter,
      };
      return {
        authentication,
        context,
        // Own fields of users follow from `user`.
        routes: [...users(context), ...auth(context)] as readonly AccountRoute<Own, Given>[],
        start: () => mails?.start(),
        stop: async () => mails?.stop(),
      };
    },
  };
}

/** Makes the routes by which users sign in, in every way there is. */
export function accountAuthRoutes(context: AccountsContext): readonly AccountRoute[] {
  const { passkeys } = context;
  return [
    ...authRoutes(context),
    ...sessionRoutes(context),
    ...keyRoutes(context),
    ...secondFactorRoutes(context),
    ...(passkeys ? passkeyRoutes(context, passkeys) : []),
    ...emailRoutes(context),
    ...passwordResetRoutes(context),
  ];
}

/** With `confirms`, a sign-up's password is refused until its address is confirmed by mail. */
function accountSource(
  store: Store,
  { collection }: UserResource,
  { confirms }: { readonly confirms: boolean },
): AccountSource {
  const users = store.collection(collection);
  return {
    async byId(id) {
      const found = await users.get(id);
      return found && toAccount(found);
    },
    async byEmail(email) {
      const [found] = await users.find({ where: { email }, limit: 1 });
      return found && !(confirms && found.unconfirmed === true) ? toAccount(found) : undefined;
    },
  };
}

function toAccount({
  id,
  passwordHash,
  role,
  sessionVersion,
}: StoredUser & { readonly id: string }): Account {
  return { id, passwordHash, role, sessionVersion };
}

/** Derives a key per purpose of a secret (RFC 5869), so that none serves another. */
function derivedKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "", `fetchwork accounts: ${purpose}`, 32));
}
