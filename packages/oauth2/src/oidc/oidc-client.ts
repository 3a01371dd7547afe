import type { AccessToken, RefreshRules } from "../token/access-token.ts";
import type { OpenIdFlow } from "../grants/authorization-flow.ts";
import { OAuth2Client } from "../client/client.ts";
import type { GrantParams } from "../message/form.ts";
import type { TokenOptions } from "../token/token-options.ts";
import type { TokenParams } from "../token/token-params.ts";
import { DeviceFlow } from "./requests/device-flow.ts";
import { discover } from "./metadata/discover.ts";
import { endSessionUrl, type EndSessionOptions } from "./logout/end-session-url.ts";
import { introspect, type Introspection, type IntrospectOptions } from "./requests/introspect.ts";
import {
  checkOidcOptions,
  chooseScheme,
  coreOptions,
  expectedIssuer,
  oidcOptionNames,
  signedWithKeys,
  type OidcClientOptions,
  type OidcDiscoverOptions,
} from "./oidc-client-options.ts";
import { createKeySource } from "./jwt/key-source.ts";
import { createOpenIdFlow } from "./requests/open-id-flow.ts";
import type { EndpointCallOptions, ProviderClient } from "./provider-endpoint.ts";
import { pushAuthorization, type PushedAuthorization } from "./requests/push-authorization.ts";
import { RemoteJwks } from "./jwt/remote-jwks.ts";
import { checkSameUser, subjectOf } from "./jwt/same-user.ts";
import { isHttpUrl, isSecureUrl } from "../message/secure-url.ts";
import { checkMetadata, type ServerMetadata } from "./metadata/server-metadata.ts";
import { TokenExchange } from "./requests/token-exchange.ts";
import {
  userInfo,
  type SignedResponseOptions,
  type UserInfo,
  type UserInfoOptions,
} from "./requests/user-info.ts";
import {
  verifyIdToken,
  type IdTokenClaims,
  type VerifyIdTokenOptions,
} from "./jwt/verify-id-token.ts";
import {
  verifyLogoutToken,
  type LogoutClaims,
  type VerifyLogoutTokenOptions,
} from "./logout/verify-logout-token.ts";
import { checkOptions } from "../check-options.ts";

/** Options of {@link OidcClient.verifyIdToken}: those that the client does not know. */
export type ClientVerifyIdTokenOptions = Pick<
  VerifyIdTokenOptions,
  "nonce" | "maxAge" | "acrValues" | "accessToken" | "code"
>;

/** Options of {@link OidcClient.verifyLogoutToken}: those that the client does not know. */
export type ClientVerifyLogoutTokenOptions = Pick<VerifyLogoutTokenOptions, "rememberOnce">;

/**
 * A client of a server whose metadata is known: everything that an `OAuth2Client` is, and OpenID
 * Connect. Every ID token that comes from the token endpoint is validated before anybody gets it.
 *
 * @example
 * ```ts
 * const client = await OidcClient.discover("https://accounts.example.com", "id", "secret", {
 *   redirectUri: "https://app.example.com/callback",
 * });
 * const { url, transaction } = await client.authCode.start();
 * // ... the browser comes back ...
 * const token = await client.authCode.callback(request, transaction);
 * const { sub } = client.claims(token) ?? {};
 * ```
 */
export class OidcClient extends OAuth2Client implements ProviderClient {
  /** Metadata of the server. */
  readonly metadata: ServerMetadata;
  /** Keys of the server; `undefined` when it has no `jwks_uri`. */
  readonly jwks: RemoteJwks | undefined;
  /** Whether the endpoints of `mtls_endpoint_aliases` are used. */
  readonly usesMtlsAliases: boolean;
  /** The device authorization grant (RFC 8628). */
  readonly device: DeviceFlow;
  /** Token exchange (RFC 8693). */
  readonly tokenExchange: TokenExchange;
  /** Additions of OpenID Connect to `authCode.start` and `authCode.callback`. */
  readonly openId: OpenIdFlow;
  readonly #signedOptions: SignedResponseOptions;
  readonly #claims = new WeakMap<AccessToken, IdTokenClaims>();

  /**
   * Makes a client of metadata that is known already; see {@link OidcClient.discover}.
   *
   * @throws MetadataError when the metadata is unusable
   * @throws OAuth2UsageError `ERR_OAUTH_OPTION`
   */
  constructor(
    metadata: ServerMetadata,
    clientId: string,
    clientSecret?: string | null,
    options: OidcClientOptions = {},
  ) {
    const rest = checkOidcOptions(clientId, options);
    const { clockTolerance = 30, allowInsecure, build } = options;
    checkMetadata(metadata, allowInsecure === true ? isHttpUrl : isSecureUrl);
    const authScheme = rest.authScheme ?? chooseScheme(metadata, clientSecret, rest.clientKey);
    const usesMtlsAliases = authScheme === "tls_client_auth";
    const decided = coreOptions(metadata, usesMtlsAliases);
    super(clientId, clientSecret, { ...rest, ...decided, authScheme }, build);
    const { clock, maxResponseBytes } = this;
    this.metadata = metadata;
    this.usesMtlsAliases = usesMtlsAliases;
    const { jwks_uri: uri } = metadata;
    const keyOptions = { clock, allowInsecure, maxResponseBytes };
    this.jwks = uri === undefined ? undefined : new RemoteJwks(uri, keyOptions, this.connection);
    const algorithms =
      options.idTokenAlgorithms ?? signedWithKeys(metadata.id_token_signing_alg_values_supported);
    const key = createKeySource(this.secret, this.jwks);
    this.#signedOptions = { key, algorithms, clockTolerance };
    this.device = new DeviceFlow(this);
    this.tokenExchange = new TokenExchange(this);
    this.openId = createOpenIdFlow(this, {
      defaultScope: options.defaultScope === "" ? undefined : (options.defaultScope ?? "openid"),
      pushes: options.pushAuthorization ?? metadata.require_pushed_authorization_requests ?? false,
      clockTolerance,
    });
  }

  /**
   * Makes a client of the metadata that the server publishes.
   *
   * @param issuer identifier of the server, or the URL of its metadata
   * @throws what {@link discover} and the constructor throw
   */
  static async discover(
    issuer: string | URL,
    clientId: string,
    clientSecret?: string | null,
    options: OidcDiscoverOptions = {},
  ): Promise<OidcClient> {
    checkOptions("OidcClient.discover", options, [
      ...oidcOptionNames,
      "discovery",
      "expectedIssuer",
      "signal",
    ]);
    const { discovery: algorithm, expectedIssuer, signal, ...clientOptions } = options;
    const rest = checkOidcOptions(clientId, clientOptions);
    const { allowInsecure, build } = clientOptions;
    // A client that never asks for a token: its connection has the certificates, proxies and
    // middlewares of the real one.
    const { connection, maxResponseBytes } = new OAuth2Client(clientId, clientSecret, rest, build);
    const request = { algorithm, expectedIssuer, signal, allowInsecure, maxResponseBytes };
    const metadata = await discover(issuer, request, connection);
    return new OidcClient(metadata, clientId, clientSecret, clientOptions);
  }

  /**
   * Asks for a token as an `OAuth2Client` does, and validates the ID token that comes with it; only
   * its `nonce` is for {@link AuthCodeGrant.callback} to check.
   *
   * @throws TokenValidationError when the ID token is not to be trusted, whatever `raiseErrors` is
   */
  override async getToken(params: TokenParams, options?: TokenOptions): Promise<AccessToken> {
    const token = await super.getToken(params, options);
    // An ID token that is the token itself, by `tokenName` or as the only one, is not among its
    // fields.
    const hash = token.response?.hash;
    const idToken = token.idToken ?? hash?.["id_token"] ?? hash?.["idToken"];
    if (typeof idToken !== "string") return token;
    const accessToken = token.token === idToken ? undefined : token.token;
    const claims = await this.verifyIdToken(idToken, { nonce: false, accessToken });
    this.#claims.set(token, claims);
    return token;
  }

  /**
   * A refresh must not return a token of another user (OpenID Connect Core, 12.2). The ID token
   * stays with the session, and its claims stay known when the response has no new one.
   */
  readonly refreshRules: RefreshRules = {
    keptFields: ["scope", "id_token"],
    check: (previous, response, completed) => {
      const before = this.#claims.get(previous);
      const claims = this.#claims.get(response);
      checkSameUser(before ?? previous.idToken, claims);
      const known = claims ?? before;
      if (known !== undefined) this.#claims.set(completed, known);
    },
  };

  /**
   * The validated claims of the ID token that came with a token, or with the one before a refresh;
   * `undefined` when none came, and for a token that was restored from a store.
   */
  claims(token: AccessToken): IdTokenClaims | undefined {
    return this.#claims.get(token);
  }

  /**
   * Validates an ID token of this server for this client; see {@link verifyIdToken}.
   *
   * @throws TokenValidationError
   */
  verifyIdToken(idToken: string, options: ClientVerifyIdTokenOptions = {}): Promise<IdTokenClaims> {
    checkOptions("verifyIdToken", options, ["nonce", "maxAge", "acrValues", "accessToken", "code"]);
    return verifyIdToken(idToken, {
      ...options,
      issuer: expectedIssuer(this.metadata),
      clientId: this.id ?? "",
      ...this.#signedOptions,
      now: this.clock() / 1000,
    });
  }

  /**
   * Validates a logout token of this server for this client; see {@link verifyLogoutToken}.
   *
   * @throws TokenValidationError
   */
  verifyLogoutToken(
    logoutToken: string,
    options: ClientVerifyLogoutTokenOptions = {},
  ): Promise<LogoutClaims> {
    checkOptions("verifyLogoutToken", options, ["rememberOnce"]);
    return verifyLogoutToken(logoutToken, {
      ...options,
      issuer: this.metadata.issuer,
      clientId: this.id ?? "",
      ...this.#signedOptions,
      now: this.clock() / 1000,
    });
  }

  /**
   * Fetches the claims about the user (OpenID Connect Core, 5.3). Their `sub` must be that of the
   * ID token that came with the token, even a stored and restored one.
   *
   * @throws OAuth2UsageError `ERR_OAUTH_OPTION` when there is no `sub` to compare with;
   * MetadataError, ChallengeError, TokenValidationError
   */
  async userInfo(token: AccessToken | string, options: UserInfoOptions = {}): Promise<UserInfo> {
    const known = typeof token === "string" ? undefined : this.#subjectOf(token);
    const { expectedSub = known } = options;
    return userInfo(this, token, { ...options, expectedSub }, this.#signedOptions);
  }

  #subjectOf(token: AccessToken): string | undefined {
    const claims = this.#claims.get(token);
    // An attacker who can write to the store can put any token there.
    return claims?.sub ?? (token.isRestored ? subjectOf(token.idToken) : undefined);
  }

  /**
   * Introspects a token (RFC 7662).
   *
   * @throws MetadataError, OAuth2Error, InvalidResponseError
   */
  introspect(token: AccessToken | string, options: IntrospectOptions = {}): Promise<Introspection> {
    const value = typeof token === "string" ? token : token.token;
    return introspect(this, value, options);
  }

  /**
   * Pushes an authorization request (RFC 9126). `authCode.start` does it by itself; this is for
   * requests of one's options.
   *
   * @throws MetadataError, OAuth2Error
   */
  pushAuthorization(
    params: GrantParams,
    options?: EndpointCallOptions,
  ): Promise<PushedAuthorization> {
    return pushAuthorization(this, params, options);
  }

  /**
   * Makes the URL at which the provider signs the user out (OpenID Connect RP-Initiated Logout).
   *
   * @throws MetadataError when the provider has none
   */
  endSessionUrl(options?: EndSessionOptions): string {
    return endSessionUrl(this.metadata, this.id, options);
  }
}
