import { createContextKey, empty, type Context, type Middleware } from "@fetchwork/http";
import { constantTimeEqual, parseBasicCredentials } from "@fetchwork/kit";
import { argon2Verifier } from "./argon2-hash.ts";
import { bcryptVerifier } from "./bcrypt-hash.ts";
import {
  checkFlag,
  checkFunction,
  checkHeaderValue,
  checkNext,
  checkOptions,
  optionError,
  type OptionNames,
} from "../check-options.ts";
import { HashQueueFullError } from "./hash-queue.ts";
import { refuse } from "../response/plain-answer.ts";
import { rememberSuccess } from "./remember-success.ts";

/** Decides about the credentials of a request. Compare secrets in constant time. */
export type CredentialChecker = (user: string, password: string) => boolean | Promise<boolean>;

/** Options of {@link basicAuth} and its variants. */
export interface BasicAuthOptions {
  /**
   * Answers every refusal with 401, `Unauthorized` and `WWW-Authenticate`, so that a browser asks the user, again if it
   * must. Default: `false`, or `true` for the variants with a prompt.
   */
  readonly prompt?: boolean | undefined;
  /**
   * Sends `WWW-Authenticate` with every 401, as RFC 9110, 15.5.2 asks, and leaves the 403 as it is. Default: `false`.
   */
  readonly challenge?: boolean | undefined;
  /** Realm of `WWW-Authenticate`. Default: `restricted`. */
  readonly realm?: string | undefined;
}

/** Options of the variants that compare with a hash. */
export interface BasicAuthHashOptions extends BasicAuthOptions {
  /**
   * Milliseconds for which credentials that were right pass without another computation, because a browser sends them
   * with every request. Kept is a keyed digest of the last ones, in memory. 0 computes every time. Default: `60_000`.
   */
  readonly rememberFor?: number | undefined;
}

const authorizedKey = createContextKey<string>("authorized user");

/**
 * Asks for HTTP Basic credentials (RFC 7617) and has a function check them.
 *
 * Answers 401 without a body when the request has none, or malformed ones, and 403 without a body when they are
 * rejected. Options turn that into what RFC 9110 asks and browsers understand. Put it inside TLS: the password travels
 * with every request as it is.
 *
 * @example
 * ```ts
 * basicAuth(async (user, password) => (await findUser(user))?.accepts(password) ?? false);
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function basicAuth(checker: CredentialChecker, options: BasicAuthOptions = {}): Middleware {
  checkOptions(options, knownOptions);
  checkFunction(checker, "checker");
  const { prompt = false, challenge = false, realm = "restricted" } = options;
  checkFlag(prompt, "prompt");
  checkFlag(challenge, "challenge");
  checkHeaderValue(realm, "realm");
  const value = `Basic realm="${realm.replaceAll(/["\\]/g, String.raw`\$&`)}", charset="UTF-8"`;

  const askAgain = (): Response => {
    const response = refuse(401, "Unauthorized");
    response.headers.set("www-authenticate", value);
    return response;
  };
  const missing = prompt
    ? askAgain
    : () => empty(401, challenge ? { headers: { "www-authenticate": value } } : {});
  const wrong = prompt ? askAgain : () => empty(403);

  return (next) => {
    checkNext("basicAuth", next);
    return (request, context) => {
      const credentials = parseBasicCredentials(request.headers.get("authorization"));
      if (credentials === undefined) return missing();
      const { username: user, password } = credentials;
      const decide = (isRight: unknown): Response | Promise<Response> => {
        // Anything but true is a refusal, whatever a checker without types returns.
        if (isRight !== true) return wrong();
        context.set(authorizedKey, user);
        return next(request, context);
      };
      const verdict = checker(user, password);
      if (!(verdict instanceof Promise)) return decide(verdict);
      return verdict.then(decide, (error: unknown) => {
        if (error instanceof HashQueueFullError) return busy();
        throw error;
      });
    };
  };
}

/**
 * Lets one user with one password pass; both are compared in constant time. Answers as {@link basicAuth} does.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`, also for an empty password
 */
export function basicAuthWithUserPasswd(
  user: string,
  password: string,
  options: BasicAuthOptions = {},
): Middleware {
  checkUser(user);
  if (typeof password !== "string" || password === "") {
    throw optionError("password", typeof password === "string" ? "" : typeof password, "text");
  }
  return basicAuth((givenUser, givenPassword) => {
    // Both always, so that the time does not tell which one was wrong.
    const isRightUser = constantTimeEqual(givenUser, user);
    const isRightPassword = constantTimeEqual(givenPassword, password);
    return isRightUser && isRightPassword;
  }, options);
}

/**
 * Lets one user pass whose password has this bcrypt hash. The hash is computed for unknown users too, so the time tells
 * nothing about them; it takes some 50 ms of the thread. When 100 computations wait already, answers 503.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function basicAuthWithBcryptHash(
  user: string,
  hash: string,
  options: BasicAuthHashOptions = {},
): Middleware {
  return basicAuthWithHash(user, bcryptVerifier(hash), options);
}

/**
 * Lets one user pass whose password has this Argon2id hash; see {@link generateArgon2Hash}. The hash is computed for
 * unknown users too, four at once in a process. When 100 computations wait already, answers 503.
 *
 * @param hash - Of `generateArgon2Hash`, base64.
 * @param salt - Of `generateArgon2Hash`, base64.
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function basicAuthWithArgon2Hash(
  user: string,
  hash: string,
  salt: string,
  options: BasicAuthHashOptions = {},
): Middleware {
  return basicAuthWithHash(user, argon2Verifier(hash, salt), options);
}

/** {@link basicAuthWithUserPasswd} that makes browsers ask: 401 and `WWW-Authenticate` for every refusal. */
export function basicAuthWithPrompt(
  user: string,
  password: string,
  options: BasicAuthOptions = {},
): Middleware {
  checkOptions(options, knownOptions);
  return basicAuthWithUserPasswd(user, password, { prompt: true, ...options });
}

/** {@link basicAuthWithBcryptHash} that makes browsers ask: 401 and `WWW-Authenticate` for every refusal. */
export function basicAuthWithBcryptHashAndPrompt(
  user: string,
  hash: string,
  options: BasicAuthHashOptions = {},
): Middleware {
  checkOptions(options, knownHashOptions);
  return basicAuthWithBcryptHash(user, hash, { prompt: true, ...options });
}

/** {@link basicAuthWithArgon2Hash} that makes browsers ask: 401 and `WWW-Authenticate` for every refusal. */
export function basicAuthWithArgon2HashAndPrompt(
  user: string,
  hash: string,
  salt: string,
  options: BasicAuthHashOptions = {},
): Middleware {
  checkOptions(options, knownHashOptions);
  return basicAuthWithArgon2Hash(user, hash, salt, { prompt: true, ...options });
}

/** Whether the request passed a middleware of this family. */
export function isAuthorized(context: Context): boolean {
  return context.get(authorizedKey) !== undefined;
}

/** The user with whom the request passed a middleware of this family. */
export function authorizedUser(context: Context): string | undefined {
  return context.get(authorizedKey);
}

function basicAuthWithHash(
  user: string,
  verify: (password: string) => Promise<boolean>,
  options: BasicAuthHashOptions,
): Middleware {
  checkOptions(options, knownHashOptions);
  checkUser(user);
  const { rememberFor = 60_000, ...rest } = options;
  const check: CredentialChecker = async (givenUser, givenPassword) => {
    const isRightUser = constantTimeEqual(givenUser, user);
    const isRightPassword = await verify(givenPassword);
    return isRightUser && isRightPassword;
  };
  return basicAuth(rememberSuccess(check, rememberFor), rest);
}

function checkUser(user: unknown): void {
  // A colon ends the user on the wire (RFC 7617, 2).
  if (typeof user !== "string" || user.includes(":")) {
    throw optionError("user", user, "text without a colon");
  }
}

function busy(): Response {
  const response = refuse(503, "Service Unavailable");
  response.headers.set("retry-after", "5");
  return response;
}

const knownOptions: OptionNames<BasicAuthOptions> = {
  owner: "basicAuth",
  names: { prompt: true, challenge: true, realm: true },
  otherNames: { showPrompt: "prompt", sendChallenge: "challenge", name: "realm" },
};

const knownHashOptions: OptionNames<BasicAuthHashOptions> = {
  ...knownOptions,
  names: { ...knownOptions.names, rememberFor: true },
  otherNames: { ...knownOptions.otherNames, cache: "rememberFor", ttl: "rememberFor" },
};
