import type { Middleware } from "@fetchwork/http";
import { constantTimeEqual } from "@fetchwork/kit";
import { checkOptions } from "../check-options.ts";
import { argon2Verifier } from "./argon2-hash.ts";
import {
  basicAuthOptionNames,
  checkUser,
  type BasicAuthOptions,
  type CredentialChecker,
} from "./basic-auth-options.ts";
import { basicAuth } from "./basic-auth.ts";
import { bcryptVerifier } from "./bcrypt-hash.ts";
import { rememberSuccess } from "./remember-success.ts";

export { generateArgon2Hash, type Argon2Hash } from "./argon2-hash.ts";
export { generateBcryptHash } from "./bcrypt-hash.ts";

/**
 * Accepts one user, whose password has this bcrypt hash. The hash is computed for unknown users
 * too, so the time reveals nothing about them; it takes about 50 ms of the thread. When 100
 * computations wait already, responds with 503.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function basicAuthWithBcryptHash(
  user: string,
  hash: string,
  options: BasicAuthOptions = {},
): Middleware {
  return basicAuthWithHash(user, bcryptVerifier(hash), options);
}

/**
 * Accepts one user, whose password has this Argon2id hash; see {@link generateArgon2Hash}. The hash
 * is computed for unknown users too, at most four at once in a process. When 100 computations wait
 * already, responds with 503.
 *
 * @param hash - Result of `generateArgon2Hash`, base64.
 * @param salt - Result of `generateArgon2Hash`, base64.
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function basicAuthWithArgon2Hash(
  user: string,
  hash: string,
  salt: string,
  options: BasicAuthOptions = {},
): Middleware {
  return basicAuthWithHash(user, argon2Verifier(hash, salt), options);
}

/** {@link basicAuthWithBcryptHash}, with 401 and `WWW-Authenticate`, for a browser's prompt. */
export function basicAuthWithBcryptHashAndPrompt(
  user: string,
  hash: string,
  options: BasicAuthOptions = {},
): Middleware {
  checkOptions("basicAuth", options, basicAuthOptionNames);
  return basicAuthWithBcryptHash(user, hash, { prompt: true, ...options });
}

/** {@link basicAuthWithArgon2Hash}, with 401 and `WWW-Authenticate`, for a browser's prompt. */
export function basicAuthWithArgon2HashAndPrompt(
  user: string,
  hash: string,
  salt: string,
  options: BasicAuthOptions = {},
): Middleware {
  checkOptions("basicAuth", options, basicAuthOptionNames);
  return basicAuthWithArgon2Hash(user, hash, salt, { prompt: true, ...options });
}

function basicAuthWithHash(
  user: string,
  verify: (password: string) => Promise<boolean>,
  options: BasicAuthOptions,
): Middleware {
  checkUser(user);
  const check: CredentialChecker = async (givenUser, givenPassword) => {
    const isRightUser = constantTimeEqual(givenUser, user);
    const isRightPassword = await verify(givenPassword);
    return isRightUser && isRightPassword;
  };
  return basicAuth(rememberSuccess(check), options);
}
