import type { AuthorizationTransaction } from "../grants/authorization-flow.ts";
import {
  AuthorizationResponseError,
  OAuth2Error,
  OAuth2UsageError,
  optionError,
} from "../errors.ts";
import { failureDetail, failureResponse, failureStatus } from "./failure-response.ts";
import { isHttpUrl } from "../message/secure-url.ts";
import { OidcClient } from "../oidc/oidc-client.ts";
import { providerOf, type SignInProvider } from "./provider.ts";
import { readCallback } from "../grants/authorization-response.ts";
import { checkOrigins, readReturnTo } from "./return-to.ts";
import { createSealedCookies } from "./sealed-cookies.ts";
import {
  checkSignInOptions,
  type LoginOptions,
  type SignedIn,
  type SignInOptions,
} from "./sign-in-options.ts";
import { checkOptions } from "../check-options.ts";

/** The handlers of {@link signIn}. The path of `callback` is the path of the redirect URI. */
export interface SignIn {
  /** GET: sends the browser to the provider; `returnTo` says where it goes then. */
  readonly login: (request: Request) => Promise<Response>;
  /** Does what `login` does with any method, and with options that the application chooses. */
  readonly start: (request: Request, options: LoginOptions) => Promise<Response>;
  /** GET, or POST with `response_mode=form_post`: finishes a sign-in. */
  readonly callback: (request: Request) => Promise<Response>;
  /** POST of an allowed origin: ends the session here and at the provider (RP-Initiated Logout). */
  readonly logout: (request: Request) => Promise<Response>;
  /** POST of the provider: ends sessions here (OpenID Connect Back-Channel Logout, 2.5). */
  readonly backchannelLogout: (request: Request) => Promise<Response>;
}

/** Content of the cookie of a sign-in. */
interface Pending extends Pick<SignedIn, "returnTo" | "data"> {
  readonly transaction: AuthorizationTransaction;
}

/** Time that a user has at the provider, in seconds. */
const lifetime = 600;

/**
 * Makes the handlers that sign users in with a provider: `state`, `nonce`, PKCE (`S256`), `iss` and
 * the ID token are checked, and each sign-in is kept in a sealed cookie for ten minutes. A callback
 * that is not of a sign-in of this browser is a response with status 400; a provider that fails is
 * 502, one that cannot be reached 503.
 *
 * @example
 * ```ts
 * const auth = signIn(client, { secret, onSignedIn: ({ profile }) => startSession(profile) });
 * ```
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION`
 */
export function signIn(source: OidcClient | SignInProvider, settings: SignInOptions): SignIn {
  checkSignInOptions(settings);
  const provider = source instanceof OidcClient ? providerOf(source) : source;
  const { clientId, redirectUri, connect } = provider;
  const { onError, onSignOut, onLogout, rememberOnce, postLogoutRedirectUri } = settings;
  if (!URL.canParse(redirectUri) || !isHttpUrl(new URL(redirectUri)))
    throw optionError("redirectUri", redirectUri, "the URL of the callback");
  const { origin, protocol } = new URL(redirectUri);
  const isSecure = protocol === "https:";
  const params = { ...provider.params, ...settings.params };
  const isPosted = params["response_mode"] === "form_post";
  // Browsers accept SameSite=None, which the POST of another site needs, with Secure only.
  if (isPosted && !isSecure) throw optionError("redirectUri", redirectUri, "an https URL");
  const origins = checkOrigins([origin, ...(settings.origins ?? [])]);
  const cookies = createSealedCookies({
    secret: settings.secret,
    audience: JSON.stringify([clientId, redirectUri]),
    isSecure,
    sameSite: isPosted ? "None" : "Lax",
    lifetime,
  });

  async function fail(request: Request, error: OAuth2Error, pending?: Pending): Promise<Response> {
    const status = failureStatus(error);
    const { returnTo, data, transaction } = pending ?? {};
    const code = /^\w{1,40}$/.test(error.code ?? "") ? error.code : undefined;
    const response =
      (await onError?.({ error, status, request, returnTo, data })) ??
      failureResponse(request, status, failureDetail(error), code);
    return withCookies(response, transaction ? [cookies.removal(transaction.state)] : []);
  }

  async function start(request: Request, options: LoginOptions): Promise<Response> {
    checkOptions("start", options, ["returnTo", "data"]);
    const { returnTo: wanted, data } = options;
    const returnTo = wanted === undefined ? undefined : readReturnTo(wanted, origin, origins);
    if (wanted !== returnTo && returnTo === undefined) {
      const message = "returnTo must be a path, or a URL of an allowed origin";
      return fail(request, new AuthorizationResponseError(message, { code: "ERR_OAUTH_TARGET" }));
    }
    const started = await attempt(async () =>
      (await connect()).authCode.start(params, { lifetime }),
    );
    if (started instanceof OAuth2Error) return fail(request, started);
    const { url, transaction } = started;
    const pending: Pending = { transaction, returnTo, data };
    const kept = await cookies.seal(transaction.state, pending, transaction.expiresAt);
    return withCookies(redirect(url, 302), [...cookies.surplus(request), kept]);
  }

  async function open(request: Request): Promise<[URLSearchParams, Pending]> {
    const parameters = await readCallback(request);
    const found = await cookies.open(request, parameters.get("state") ?? "");
    if (found === undefined)
      throw new AuthorizationResponseError("this browser has no such sign-in under way");
    // Sealed by `login`: nobody else can have written it.
    return [parameters, found as unknown as Pending];
  }

  async function finish(
    request: Request,
    parameters: URLSearchParams,
    { transaction, returnTo, data }: Pending,
  ): Promise<SignedIn> {
    const { state, expiresAt } = transaction;
    if (rememberOnce !== undefined && !(await rememberOnce(state, expiresAt)))
      throw new AuthorizationResponseError("the callback was used before");
    const client = await connect();
    const token = await client.authCode.callback(parameters, transaction);
    if (token.error !== undefined) throw token.error;
    const profile = await provider.readProfile(token, parameters);
    return { profile, claims: client.claims(token), token, request, returnTo, data };
  }

  return {
    async login(request) {
      if (request.method !== "GET") return notAllowed(request, "GET");
      const returnTo = new URL(request.url).searchParams.get("returnTo") ?? undefined;
      return start(request, { returnTo });
    },
    start,

    async callback(request) {
      const method = isPosted ? "POST" : "GET";
      if (request.method !== method) return notAllowed(request, method);
      const opened = await attempt(() => open(request));
      if (opened instanceof OAuth2Error) return fail(request, opened);
      const [parameters, pending] = opened;
      const signedIn = await attempt(() => finish(request, parameters, pending));
      if (signedIn instanceof OAuth2Error) return fail(request, signedIn, pending);
      const result = (await settings.onSignedIn(signedIn)) ?? signedIn.returnTo ?? "/";
      const target = typeof result === "string" ? readReturnTo(result, origin, origins) : undefined;
      if (typeof result === "string" && target === undefined)
        throw new OAuth2UsageError("ERR_OAUTH_TARGET", "onSignedIn returned a URL elsewhere");
      const response = typeof result === "string" ? redirect(target ?? origin, 303) : result;
      return withCookies(response, [cookies.removal(pending.transaction.state)]);
    },

    async logout(request) {
      if (request.method !== "POST") return notAllowed(request, "POST");
      // A page of someone else must not sign the user out.
      const from = request.headers.get("origin");
      const site = request.headers.get("sec-fetch-site") ?? "none";
      const isOurs = from === null ? ["same-origin", "none"].includes(site) : origins.has(from);
      if (!isOurs) return failureResponse(request, 403, "The request comes from another site.");
      const { headers, idToken } = (await onSignOut?.(request)) ?? {};
      const url = await attempt(async () =>
        (await connect()).endSessionUrl({ idTokenHint: idToken, postLogoutRedirectUri }),
      );
      // The session here has ended; a provider without this endpoint, or that is down, cannot
      // change that.
      const home = postLogoutRedirectUri ?? `${origin}/`;
      return redirect(typeof url === "string" ? url : home, 303, headers);
    },

    async backchannelLogout(request) {
      if (onLogout === undefined) return failureResponse(request, 404, "There is no such page.");
      if (request.method !== "POST") return notAllowed(request, "POST");
      const claims = await attempt(async () => {
        // Read as the form of a callback is: of 64 KiB at most.
        const token = (await readCallback(request)).get("logout_token") ?? "";
        return (await connect()).verifyLogoutToken(token, { rememberOnce });
      });
      const headers = { "cache-control": "no-store" };
      if (claims instanceof OAuth2Error) {
        const status = failureStatus(claims);
        const error = status === 400 ? "invalid_request" : "temporarily_unavailable";
        return Response.json({ error, error_description: claims.message }, { status, headers });
      }
      await onLogout({ sub: claims.sub, sid: claims.sid });
      return new Response(null, { status: 200, headers });
    },
  };
}

/** Returns errors caused by a provider or by the sender of the request; throws all others. */
async function attempt<T>(work: () => Promise<T>): Promise<T | OAuth2Error> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof OAuth2Error) return error;
    throw error;
  }
}

function notAllowed(request: Request, allow: string): Response {
  const response = failureResponse(request, 405, `The method must be ${allow}.`);
  response.headers.set("allow", allow);
  return response;
}

function redirect(location: string, status: 302 | 303, init?: RequestInit["headers"]): Response {
  const headers = new Headers(init);
  headers.set("location", location);
  headers.set("cache-control", "no-store");
  return new Response(null, { status, headers });
}

function withCookies(response: Response, cookies: readonly string[]): Response {
  // A copy, because the headers of `Response.redirect()` cannot be changed.
  const copy = new Response(response.body, response);
  for (const cookie of cookies) copy.headers.append("set-cookie", cookie);
  // The URL of a callback has the code, which is not for other sites.
  copy.headers.set("referrer-policy", "no-referrer");
  return copy;
}
