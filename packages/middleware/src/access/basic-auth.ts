import { createContextKey, empty, type Context, type Middleware } from "@fetchwork/http";
import { constantTimeEqual, parseBasicCredentials, QueueFullError } from "@fetchwork/kit";
import {
  checkFlag,
  checkFunction,
  checkHeaderValue,
  checkNext,
  checkOptions,
  optionError,
} from "../check-options.ts";
import {
  basicAuthOptionNames,
  checkUser,
  type BasicAuthOptions,
  type CredentialChecker,
} from "./basic-auth-options.ts";
import { refuse } from "../response/plain-response.ts";
import { place } from "../order.ts";

export type { BasicAuthOptions } from "./basic-auth-options.ts";

const authorizedKey = createContextKey<string>("authorized user");

/**
 * Requires HTTP Basic credentials (RFC 7617) and checks them with a function.
 *
 * Responds with 401 when credentials are missing or malformed, and with 403 when they are rejected.
 * Both have no body. Options change that to what RFC 9110 requires and browsers understand. Use it
 * only with TLS: the password is sent unencrypted with every request.
 *
 * @example
 * ```ts
 * basicAuth(async (user, password) => (await findUser(user))?.accepts(password) ?? false);
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function basicAuth(checker: CredentialChecker, options: BasicAuthOptions = {}): Middleware {
  checkOptions("basicAuth", options, basicAuthOptionNames);
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

  return place("basicAuth", (next) => {
    checkNext("basicAuth", next);
    return (request, context) => {
      const credentials = parseBasicCredentials(request.headers.get("authorization"));
      if (credentials === undefined) return missing();
      const { username: user, password } = credentials;
      const decide = (isRight: unknown): Response | Promise<Response> => {
        // Any other value than true refuses, also one from a checker without types.
        if (isRight !== true) return wrong();
        context.set(authorizedKey, user);
        return next(request, context);
      };
      const verdict = checker(user, password);
      if (!(verdict instanceof Promise)) return decide(verdict);
      return verdict.then(decide, (error: unknown) => {
        if (error instanceof QueueFullError) return busy();
        throw error;
      });
    };
  });
}

/**
 * Accepts one user with one password; both are compared in constant time. Responds as {@link
 * basicAuth} does.
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
    // Always both, so that the time does not reveal which one was wrong.
    const isRightUser = constantTimeEqual(givenUser, user);
    const isRightPassword = constantTimeEqual(givenPassword, password);
    return isRightUser && isRightPassword;
  }, options);
}

/** {@link basicAuthWithUserPasswd}, with 401 and `WWW-Authenticate`, for a browser's prompt. */
export function basicAuthWithPrompt(
  user: string,
  password: string,
  options: BasicAuthOptions = {},
): Middleware {
  checkOptions("basicAuth", options, basicAuthOptionNames);
  return basicAuthWithUserPasswd(user, password, { prompt: true, ...options });
}

/** Whether the request passed a middleware of the `basicAuth` family. */
export function isAuthorized(context: Context): boolean {
  return context.get(authorizedKey) !== undefined;
}

/** The user with whom the request passed a middleware of the `basicAuth` family. */
export function authorizedUser(context: Context): string | undefined {
  return context.get(authorizedKey);
}

function busy(): Response {
  const response = refuse(503, "Service Unavailable");
  response.headers.set("retry-after", "5");
  return response;
}
