import type { AccessToken } from "../token/access-token.ts";
import { optionError } from "../errors.ts";
import type { Params, Scope } from "../message/form.ts";
import { isJsonRecord } from "../json-record.ts";

/**
 * State to store between `authCode.start` and `authCode.callback`: plain values, ready for JSON.
 * Keep it where only the browser that started can bring it back: in an encrypted `HttpOnly` cookie
 * or the session. Use it once.
 */
export interface AuthorizationTransaction {
  /** Value of `state`, which the callback must repeat. */
  readonly state: string;
  /** Secret of PKCE. */
  readonly codeVerifier: string;
  /** Ties the ID token to this sign-in; there when one was asked for. */
  readonly nonce?: string | undefined;
  /** Where the callback goes; sent again with the code. */
  readonly redirectUri?: string | undefined;
  /** The server that was asked. */
  readonly issuer?: string | undefined;
  /** Resources that the token is for (RFC 8707). */
  readonly resource?: readonly string[] | undefined;
  /** Scope that was asked for, separated by spaces. */
  readonly scope?: string | undefined;
  /** Longest time since the user signed in, in seconds. */
  readonly maxAge?: number | undefined;
  /** When the sign-in must be finished, in seconds since 1970. */
  readonly expiresAt: number;
}

/** Options of `authCode.start` in addition to the parameters of the request. */
export interface StartAuthorizationOptions {
  /** Time that the user has, in seconds. Default: `3600`. */
  readonly lifetime?: number | undefined;
}

/** Result of `authCode.start`. */
export interface StartedAuthorization {
  /** Where to send the browser. */
  readonly url: string;
  /** State to keep until the callback. */
  readonly transaction: AuthorizationTransaction;
}

/** Additions of OpenID Connect, and of a server's metadata, to the flow. */
export interface OpenIdFlow {
  /** Whether the server promises `iss` in each of its responses (RFC 9207, 3). */
  readonly requiresIssuer: boolean;
  /** Scope of a request that names none. */
  readonly defaultScope: Scope | undefined;
  /** Turns the plain URL into the one to use: with a signed or a pushed request. */
  finishUrl(url: URL): Promise<string>;
  /**
   * Checks that the validated ID token of a response belongs to this transaction.
   *
   * @throws TokenValidationError
   */
  verify(token: AccessToken, transaction: AuthorizationTransaction): void;
}

/** Whether a scope asks for an ID token. */
export function hasOpenId(scope: unknown): boolean {
  const values: readonly unknown[] = Array.isArray(scope) ? scope : [scope];
  return values.some(
    (value) => typeof value === "string" && value.split(/[\s,]+/).includes("openid"),
  );
}

/**
 * Checks that a caller gave no parameter that the flow makes itself.
 *
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION`
 */
export function checkOwnParameters(params: Params): void {
  const own = [
    "state",
    "nonce",
    "code_challenge",
    "code_challenge_method",
    "request",
    "request_uri",
  ];
  const given = own.find((name) => params[name] !== undefined && params[name] !== null);
  if (given !== undefined)
    throw optionError(`the parameter ${given}`, "given", "nothing, because start generates it");
  const type = params["response_type"];
  if (type !== undefined && type !== "code") throw optionError("response_type", type, "code");
}

/**
 * Checks that a value is a transaction.
 *
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION`
 */
export function checkTransaction(
  transaction: unknown,
): asserts transaction is AuthorizationTransaction {
  const record = isJsonRecord(transaction) ? transaction : {};
  const { state, codeVerifier, nonce, scope, expiresAt } = record;
  const required = hasOpenId(scope) ? [state, codeVerifier, nonce] : [state, codeVerifier];
  const texts = required.filter((value) => typeof value === "string" && value !== "");
  if (texts.length === required.length && typeof expiresAt === "number") return;
  // Not what was found: text may be the transaction as JSON.
  throw optionError("the transaction", typeof transaction, "the transaction of authCode.start");
}

/** Reads `max_age`, in seconds. */
export function readMaxAge(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (/^\d{1,10}$/.test(text)) return Number(text);
  throw optionError("max_age", text, "seconds, at least 0");
}
