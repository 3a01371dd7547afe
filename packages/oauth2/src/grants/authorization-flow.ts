import { hideFromInspect } from "../inspect-as-json.ts";
import type { AccessToken } from "../token/access-token.ts";
import { optionError, AuthorizationResponseError } from "../errors.ts";
import type { GrantParams, Params, Scope } from "../message/form.ts";
import {
  readCallback,
  validateAuthorizationResponse,
  type CallbackInput,
} from "./authorization-response.ts";
import { isJsonRecord } from "../json-record.ts";
import { codeChallenge, generateCodeVerifier, randomState } from "./pkce.ts";
import type { TokenOptions } from "../token/token-options.ts";
import { keptParams } from "../token/refresh-params.ts";
import { splitTokenParams, type TokenParams } from "../token/token-params.ts";
import { checkOptions } from "../check-options.ts";

/**
 * State to store between {@link startAuthorization} and {@link finishAuthorization}: plain values,
 * ready for JSON. Keep it where only the browser that started can bring it back: in an encrypted
 * `HttpOnly` cookie or the session. Use it once.
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
  /** Classes of which the authentication must be one. */
  readonly acrValues?: readonly string[] | undefined;
  /** When the sign-in must be finished, in seconds since 1970. */
  readonly expiresAt: number;
}

/** Options of {@link startAuthorization} in addition to the parameters of the request. */
export interface StartAuthorizationOptions {
  /** Time that the user has, in seconds. Default: `3600`. */
  readonly lifetime?: number | undefined;
  /** Whether the ID token must have one of `acr_values`, not only should. Default: `false`. */
  readonly requireAcr?: boolean | undefined;
}

/** Result of {@link startAuthorization}. */
export interface StartedAuthorization {
  /** Where to send the browser. */
  readonly url: string;
  /** State to keep until the callback. */
  readonly transaction: AuthorizationTransaction;
}

/** The client that a flow belongs to. */
export interface AuthorizationFlowClient {
  /** The authorization server, when it is known. */
  readonly issuer: string | undefined;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Additions of OpenID Connect; `undefined` for a client that knows OAuth only. */
  readonly openId?: OpenIdFlow | undefined;
  readonly authCode: {
    authorizeUrl(params: Params): string;
    getToken(code: string, params: TokenParams, options: TokenOptions): Promise<AccessToken>;
  };
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

/**
 * Starts an authorization code flow with PKCE (`S256`), `state`, and a `nonce` when an ID token is
 * asked for.
 *
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION` for parameters that the flow makes itself, for the
 * scope `openid` where the ID token would not be validated, and for wrong options
 */
export async function startAuthorization(
  client: AuthorizationFlowClient,
  params: GrantParams = {},
  options: StartAuthorizationOptions = {},
): Promise<StartedAuthorization> {
  checkOptions("authCode.start", options, ["lifetime", "requireAcr"]);
  const { lifetime = 3600, requireAcr = false } = options;
  if (!(lifetime > 0)) throw optionError("lifetime", lifetime, "seconds above 0");
  checkOwnParameters(params);
  const { openId } = client;
  const scope = params["scope"] ?? openId?.defaultScope;
  const asksForIdToken = hasOpenId(scope);
  if (asksForIdToken && openId === undefined)
    throw optionError("scope", "openid", "an OidcClient, which validates the ID token");
  const state = randomState();
  const codeVerifier = generateCodeVerifier();
  const nonce = asksForIdToken ? randomState() : undefined;
  const url = new URL(
    client.authCode.authorizeUrl({
      ...params,
      scope,
      state,
      nonce,
      code_challenge: await codeChallenge(codeVerifier),
      code_challenge_method: "S256",
    }),
  );
  const sent = url.searchParams;
  const transaction: AuthorizationTransaction = {
    state,
    codeVerifier,
    nonce,
    redirectUri: sent.get("redirect_uri") ?? undefined,
    issuer: client.issuer,
    resource: sent.has("resource") ? sent.getAll("resource") : undefined,
    scope: sent.get("scope") ?? undefined,
    maxAge: readMaxAge(sent.get("max_age")),
    acrValues: requireAcr ? readAcrValues(sent.get("acr_values")) : undefined,
    expiresAt: Math.floor(client.clock() / 1000 + lifetime),
  };
  const finished = openId === undefined ? url.href : await openId.finishUrl(url);
  return { url: finished, transaction: hideFromInspect(transaction, "codeVerifier") };
}

/**
 * Finishes an authorization code flow: checks that the callback belongs to the transaction
 * (`state`, `iss`), exchanges the code, and validates the ID token when one was asked for.
 *
 * @throws AuthorizationResponseError when the user or server refused (`code` says why, such as
 * `access_denied`), or the callback is not of this transaction (`ERR_OAUTH_CALLBACK`)
 * @throws OAuth2Error when the server refuses the code; TokenValidationError when the ID token is
 * not to be trusted
 */
export async function finishAuthorization(
  client: AuthorizationFlowClient,
  input: CallbackInput,
  transaction: AuthorizationTransaction,
  request: { readonly params: TokenParams; readonly options: TokenOptions },
): Promise<AccessToken> {
  const { params, options } = request;
  checkTransaction(transaction);
  const { state, codeVerifier, redirectUri, issuer, resource, scope, expiresAt } = transaction;
  const parameters = await readCallback(input);
  if (issuer !== client.issuer)
    throw new AuthorizationResponseError("the transaction belongs to another authorization server");
  const requiresIssuer = client.openId?.requiresIssuer;
  const code = validateAuthorizationResponse(parameters, { state, issuer, requiresIssuer });
  if (expiresAt <= client.clock() / 1000)
    throw new AuthorizationResponseError("the sign-in has expired");
  const proven = { resource, ...params, redirect_uri: redirectUri, code_verifier: codeVerifier };
  // The scope belongs to the request of the code; the refreshes of the token send it again.
  const refreshParams = keptParams({ scope, ...splitTokenParams(proven).params });
  const token = await client.authCode.getToken(code, proven, { refreshParams, ...options });
  if (token.error === undefined) client.openId?.verify(token, transaction);
  return token;
}

function hasOpenId(scope: unknown): boolean {
  const values: readonly unknown[] = Array.isArray(scope) ? scope : [scope];
  return values.some(
    (value) => typeof value === "string" && value.split(/[\s,]+/).includes("openid"),
  );
}

function checkOwnParameters(params: Params): void {
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

function checkTransaction(transaction: unknown): asserts transaction is AuthorizationTransaction {
  const record = isJsonRecord(transaction) ? transaction : {};
  const { state, codeVerifier, nonce, scope, expiresAt } = record;
  const required = hasOpenId(scope) ? [state, codeVerifier, nonce] : [state, codeVerifier];
  const texts = required.filter((value) => typeof value === "string" && value !== "");
  if (texts.length === required.length && typeof expiresAt === "number") return;
  // Not what was found: text may be the transaction as JSON.
  throw optionError("the transaction", typeof transaction, "the transaction of authCode.start");
}

function readMaxAge(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (/^\d{1,10}$/.test(text)) return Number(text);
  throw optionError("max_age", text, "seconds, at least 0");
}

function readAcrValues(text: string | null): readonly string[] {
  const values = text?.split(" ").filter((value) => value !== "") ?? [];
  if (values.length > 0) return values;
  throw optionError("acr_values", text, "classes, since one is required");
}
