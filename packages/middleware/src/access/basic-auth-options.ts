import { optionError } from "../check-options.ts";

/** Decides about the credentials of a request. Compare secrets in constant time. */
export type CredentialChecker = (user: string, password: string) => boolean | Promise<boolean>;

/** Options of {@link basicAuth} and its variants. */
export interface BasicAuthOptions {
  /**
   * Responds to every refusal with 401, `Unauthorized` and `WWW-Authenticate`, so that a browser
   * asks the user, again if it must. Default: `false`, or `true` for the variants with a prompt.
   */
  readonly prompt?: boolean | undefined;
  /**
   * Sends `WWW-Authenticate` with every 401, as RFC 9110, 15.5.2 requires, and keeps the 403.
   * Default: `false`.
   */
  readonly challenge?: boolean | undefined;
  /** Realm of `WWW-Authenticate`. Default: `restricted`. */
  readonly realm?: string | undefined;
}

/** Names of the options of {@link basicAuth}. */
export const basicAuthOptionNames: readonly (keyof BasicAuthOptions)[] = [
  "prompt",
  "challenge",
  "realm",
];

/** @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` for a user name that cannot be sent */
export function checkUser(user: unknown): void {
  // A colon ends the user on the wire (RFC 7617, 2).
  if (typeof user !== "string" || user.includes(":")) {
    throw optionError("user", user, "text without a colon");
  }
}
