import type { Account } from "./account.ts";
import { Problem } from "./problem.ts";

/**
 * Callers that may use a route.
 *
 * - `public`: everyone. A token that does not hold counts as none.
 * - `user`: callers with a valid session token.
 * - `admin`: a user whose role is `admin`.
 * - `master`: callers with the master key. A user's token is not the master key, an admin's
 *   neither.
 * - `password`: the user whose email and password are given as HTTP Basic credentials (RFC 7617).
 * - `master+password`: both of these at once.
 */
export type AccessRule = "public" | "user" | "admin" | "master" | "password" | "master+password";

/** Type of the caller of a route, by the route's rule. */
export type CallerOf<Rule extends AccessRule> = Rule extends "public"
  ? Account | undefined
  : Rule extends "master"
    ? undefined
    : Account;

/** Refuses a caller who is known but may not. */
export function forbidden(detail = "not allowed for this user"): Problem {
  return new Problem(403, { detail });
}

/** Lets pass the user who owns a document, and admins. */
export function requireOwner(user: Account, ownerId: unknown): void {
  if (user.role !== "admin" && ownerId !== user.id) {
    throw forbidden("this belongs to another user");
  }
}

/** RFC 6750 section 3: the error code is given only to who has shown a token. */
export function bearerRequired(token: string | undefined, detail?: string): Problem {
  const shown = token !== undefined;
  return new Problem(401, {
    detail: detail ?? (shown ? "invalid access token" : "an access token is required"),
    headers: {
      "www-authenticate": `Bearer realm="api"${shown ? ', error="invalid_token"' : ""}`,
    },
  });
}
