import type { AccessToken } from "../token/access-token.ts";
import { optionError, type OAuth2Error } from "../errors.ts";
import type { LogoutClaims } from "../oidc/logout/verify-logout-token.ts";
import type { IdTokenClaims } from "../oidc/jwt/verify-id-token.ts";
import type { GrantParams } from "../message/form.ts";
import type { SignInProfile } from "./provider.ts";
import { checkOptions, checkTypes } from "../check-options.ts";

type MaybePromise<T> = T | Promise<T>;

/** A finished sign-in, as {@link SignInOptions.onSignedIn} gets it. */
export interface SignedIn {
  readonly profile: SignInProfile;
  /** Claims of the validated ID token; `undefined` for a provider without OpenID Connect. */
  readonly claims: IdTokenClaims | undefined;
  /** Token for the APIs of the provider. A `TokenManager` keeps it. */
  readonly token: AccessToken;
  /** The request of the callback. The body of a POST has been read. */
  readonly request: Request;
  /** Absolute URL that the sign-in was started with; `undefined` when it had none. */
  readonly returnTo: string | undefined;
  /** Data that the sign-in was started with; see {@link LoginOptions.data}. */
  readonly data: unknown;
}

/** A failed sign-in, as {@link SignInOptions.onError} gets it. */
export interface SignInFailure extends Partial<Pick<SignedIn, "returnTo" | "data">> {
  readonly error: OAuth2Error;
  /** 400: a forged, old, used or refused callback. 502 and 503: the provider fails. */
  readonly status: 400 | 502 | 503;
  /** The request of the callback. */
  readonly request: Request;
}

/** Result of {@link SignInOptions.onSignOut}. */
interface SignedOut {
  readonly headers?: RequestInit["headers"];
  readonly idToken?: string | undefined;
}

/** Options of one sign-in. */
export interface LoginOptions {
  /** Where the browser goes afterwards. Default: the home page. */
  readonly returnTo?: string | undefined;
  /** JSON value returned with the sign-in, such as the linking user; about 1,000 characters. */
  readonly data?: unknown;
}

/** Options of `signIn`. */
export interface SignInOptions {
  /** At least 32 characters. Keys of the cookies are derived from it by HKDF (RFC 5869). */
  readonly secret: string;
  /** Origins that a browser may return to, besides the redirect URI's. Default: none. */
  readonly origins?: readonly string[] | undefined;
  /** Parameters of the authorization request, such as `scope`. Default: the provider's. */
  readonly params?: GrantParams | undefined;
  /**
   * Starts the session of the application. Returns the response, or where to go: a path or a URL of
   * an allowed origin. Default of the result: `returnTo`, else `/`. The handler throws its errors.
   */
  readonly onSignedIn: (signedIn: SignedIn) => MaybePromise<Response | string | undefined>;
  /** Reports a failed sign-in, and may return a response. Default: a page, or problem details. */
  readonly onError?: ((failure: SignInFailure) => MaybePromise<Response | undefined>) | undefined;
  /**
   * Ends the session of the application in this browser. Returns headers such as `Set-Cookie`, and
   * the ID token, with which the provider asks no question. Default: only the provider is told.
   */
  readonly onSignOut?: ((request: Request) => MaybePromise<SignedOut | undefined>) | undefined;
  /** Where the browser goes after a logout; must be registered. Default: the provider decides. */
  readonly postLogoutRedirectUri?: string | undefined;
  /** Ends sessions of a user, or of this `sid`. Default: no back-channel logout. */
  readonly onLogout?:
    ((logout: Pick<LogoutClaims, "sub" | "sid">) => MaybePromise<void>) | undefined;
  /**
   * Remembers a callback or a logout token until the given time in seconds since 1970. Returns
   * whether it was new. Default: a callback is refused a second time because its cookie is removed
   * and the provider takes a code once.
   */
  readonly rememberOnce?: ((id: string, expiresAt: number) => MaybePromise<boolean>) | undefined;
}

/**
 * Checks the options.
 *
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION`
 */
export function checkSignInOptions(options: SignInOptions): void {
  const hooks = ["onSignedIn", "onError", "onSignOut", "onLogout", "rememberOnce"] as const;
  const others = ["secret", "origins", "params", "postLogoutRedirectUri"] as const;
  checkOptions("signIn", options, [...others, ...hooks]);
  const secret: unknown = options.secret;
  if (typeof secret !== "string" || secret.length < 32)
    throw optionError("secret", `a ${typeof secret} that is too short`, "at least 32 characters");
  checkTypes("function", Object.fromEntries(hooks.map((name) => [name, options[name]])));
  if (!options.onSignedIn) throw optionError("onSignedIn", "undefined", "a function");
}
