import { decodeJwt } from "jose";
import type { AccessToken } from "../access-token.ts";
import type { OpenIdFlow } from "../authorization-flow.ts";
import type { AuthScheme } from "../client-authentication.ts";
import type { ClientOptions } from "../client-options.ts";
import { OAuth2Client } from "../client.ts";
import type { ConnectionBuilder } from "../connection-builder.ts";
import { optionError } from "../errors.ts";
import type { Params } from "../form.ts";
import type { SigningKey } from "../sign-jwt.ts";
import type { TokenOptions } from "../token-options.ts";
import type { TokenParams } from "../token-params.ts";
import { DeviceFlow } from "./device-flow.ts";
import { discover, type DiscoverOptions } from "./discover.ts";
import { endSessionUrl, type EndSessionOptions } from "./end-session-url.ts";
import { MetadataError, TokenValidationError } from "./errors.ts";
import {
  introspect,
  type Introspection,
  type IntrospectOptions,
  type SignedAnswerOptions,
} from "./introspect.ts";
import type { JsonRecord } from "./json-record.ts";
import { createOpenIdFlow } from "./open-id-flow.ts";
import type { EndpointCallOptions, ProviderClient } from "./provider-endpoint.ts";
import { pushAuthorization, type PushedAuthorization } from "./push-authorization.ts";
import { RemoteJwks, type RemoteJwksOptions } from "./remote-jwks.ts";
import { signRequestObject } from "./request-object.ts";
import { isHttpUrl, isSecureUrl } from "./secure-url.ts";
import { findMetadataFault, type ServerMetadata } from "./server-metadata.ts";
import { TokenExchange } from "./token-exchange.ts";
import { userInfo, type ClientUserInfoOptions, type UserInfo } from "./user-info.ts";
import { verifyIdToken, type IdTokenClaims, type VerifyIdTokenOptions } from "./verify-id-token.ts";
import { checkAlgorithms, type JwtHeader, type VerificationKey } from "./verify-jwt.ts";
import {
  verifyLogoutToken,
  type LogoutClaims,
  type VerifyLogoutTokenOptions,
} from "./verify-logout-token.ts";

/** Options of an {@link OidcClient}. What the metadata of the server says, is not among them. */
export interface OidcClientOptions extends Omit<
  ClientOptions,
  "authorizeUrl" | "tokenUrl" | "revokeUrl" | "issuer"
> {
  /**
   * Signature algorithms of ID tokens and logout tokens. Default: those of the server that sign with a private key, else
   * `RS256`. `HS256` must be named, and is verified with the client secret.
   */
  readonly idTokenAlgorithms?: readonly string[] | undefined;
  /** Signature algorithms of signed user information and introspection. Default: as for ID tokens. */
  readonly answerAlgorithms?: readonly string[] | undefined;
  /** How far the server's clock may differ, in seconds. Default: `30`. */
  readonly clockTolerance?: number | undefined;
  /** How the keys of the server are kept. */
  readonly jwks?: Pick<RemoteJwksOptions, "cacheMaxAge" | "cooldown"> | undefined;
  /** Scope of a sign-in that names none. Default: `openid`. */
  readonly defaultScope?: string | undefined;
  /** Whether sign-ins are pushed (RFC 9126). Default: whether the server requires it. */
  readonly pushAuthorization?: boolean | undefined;
  /** Signs sign-ins as request objects (RFC 9101). Default: they are not signed. */
  readonly requestObject?: RequestObjectKey | undefined;
  /**
   * Whether the endpoints of `mtls_endpoint_aliases` are used (RFC 8705, 5). Default: whether `authScheme` is
   * `tls_client_auth`.
   */
  readonly mtlsAliases?: boolean | undefined;
  /** Whether `http` to other machines is allowed. Default: `false`; `http` to this machine always is. */
  readonly allowInsecure?: boolean | undefined;
}

/** Key of signed request objects. */
export interface RequestObjectKey {
  readonly key: SigningKey;
  /** Default: that of the key. */
  readonly algorithm?: string | undefined;
  /** Default: that of the JWK. */
  readonly kid?: string | undefined;
}

/** Options of {@link OidcClient.discover}. */
export interface OidcDiscoverOptions extends OidcClientOptions {
  /** See {@link DiscoverOptions.algorithm}. */
  readonly discovery?: DiscoverOptions["algorithm"] | undefined;
  /** See {@link DiscoverOptions.expectedIssuer}. */
  readonly expectedIssuer?: string | undefined;
  readonly signal?: AbortSignal | null | undefined;
}

/** Options of {@link OidcClient.verifyIdToken}: those that the client does not know. */
export type ClientVerifyIdTokenOptions = Pick<
  VerifyIdTokenOptions,
  "nonce" | "maxAge" | "acrValues" | "accessToken" | "code"
>;

/** Options of {@link OidcClient.verifyLogoutToken}: those that the client does not know. */
export type ClientVerifyLogoutTokenOptions = Pick<
  VerifyLogoutTokenOptions,
  "maxTokenAge" | "rememberOnce"
>;

/**
 * A client of a server whose metadata is known: everything that an `OAuth2Client` is, and OpenID Connect. Every ID token
 * that comes from the token endpoint is validated before anybody gets it.
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
  /** What the server says about itself. */
  readonly metadata: ServerMetadata;
  /** Keys of the server; `undefined` when it has no `jwks_uri`. */
  readonly jwks: RemoteJwks | undefined;
  readonly usesMtlsAliases: boolean;
  /** The device authorization grant (RFC 8628). */
  readonly device: DeviceFlow;
  /** Token exchange (RFC 8693). */
  readonly tokenExchange: TokenExchange;
  /** What OpenID Connect adds to `authCode.start` and `authCode.callback`. */
  readonly openId: OpenIdFlow;
  readonly #idTokenAlgorithms: readonly string[];
  readonly #answers: SignedAnswerOptions;
  readonly #clockTolerance: number;
  readonly #requestObject: RequestObjectKey | undefined;
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
    build?: (connection: ConnectionBuilder) => void,
  ) {
    const { own, rest } = splitOptions(options);
    checkOwnOptions(metadata, clientId, own);
    const authScheme = rest.authScheme ?? chooseScheme(metadata, clientSecret, rest.clientKey);
    const { mtlsAliases = authScheme === "tls_client_auth" } = own;
    const urls = coreUrls(metadata, mtlsAliases);
    super(clientId, clientSecret, { ...rest, ...urls, authScheme }, build);
    const {
      clockTolerance = 30,
      jwks,
      allowInsecure,
      maxResponseBytes,
    } = {
      ...own,
      maxResponseBytes: this.maxResponseBytes,
    };
    this.metadata = metadata;
    this.usesMtlsAliases = mtlsAliases;
    const { clock } = this;
    this.jwks =
      metadata.jwks_uri === undefined
        ? undefined
        : new RemoteJwks(
            metadata.jwks_uri,
            { ...jwks, clock, allowInsecure, maxResponseBytes },
            this.connection,
          );
    this.#clockTolerance = clockTolerance;
    this.#requestObject = own.requestObject;
    const { idTokenAlgorithms = signedWithKeys(metadata.id_token_signing_alg_values_supported) } =
      own;
    this.#idTokenAlgorithms = idTokenAlgorithms;
    const { answerAlgorithms: algorithms = idTokenAlgorithms } = own;
    const key = (header: JwtHeader): VerificationKey | Promise<VerificationKey> =>
      this.#keyOf(header);
    this.#answers = { key, algorithms, clockTolerance };
    this.device = new DeviceFlow(this);
    this.tokenExchange = new TokenExchange(this);
    this.openId = createOpenIdFlow(this, {
      defaultScope: own.defaultScope ?? "openid",
      pushes: own.pushAuthorization ?? metadata.require_pushed_authorization_requests ?? false,
      signs: own.requestObject !== undefined,
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
    build?: (connection: ConnectionBuilder) => void,
  ): Promise<OidcClient> {
    const { discovery: algorithm, expectedIssuer, signal, ...clientOptions } = options;
    const { own, rest } = splitOptions(clientOptions);
    // A client that never asks for a token: its connection has the certificates, proxies and middlewares of the real one.
    const { connection, maxResponseBytes } = new OAuth2Client(clientId, clientSecret, rest, build);
    const { allowInsecure } = own;
    const request = { algorithm, expectedIssuer, signal, allowInsecure, maxResponseBytes };
    const metadata = await discover(issuer, request, connection);
    return new OidcClient(metadata, clientId, clientSecret, clientOptions, build);
  }

  /**
   * Asks for a token as an `OAuth2Client` does, and validates the ID token that comes with it; only its `nonce` is for
   * {@link AuthCodeStrategy.callback} to check.
   *
   * @throws TokenValidationError when the ID token is not to be trusted, whatever `raiseErrors` is
   */
  override async getToken(params: TokenParams, options?: TokenOptions): Promise<AccessToken> {
    const token = await super.getToken(params, options);
    const { idToken } = token;
    if (idToken === undefined) return token;
    const claims = await this.verifyIdToken(idToken, { nonce: false, accessToken: token.token });
    this.#claims.set(token, claims);
    return token;
  }

  /**
   * Sees to it that a refresh gives no token of another user (OpenID Connect Core, 12.2), and keeps the claims where the
   * answer has no ID token.
   *
   * @internal
   */
  override checkRefreshed(previous: AccessToken, answer: AccessToken, result: AccessToken): void {
    const before = this.#claims.get(previous) ?? decodeClaims(previous.idToken);
    const claims = this.#claims.get(answer);
    if (before !== undefined && claims !== undefined && before["sub"] !== claims.sub)
      throw new TokenValidationError("the sub of the refreshed ID token is another one", {
        claim: "sub",
      });
    const known = claims ?? this.#claims.get(previous);
    if (known !== undefined) this.#claims.set(result, known);
  }

  /**
   * The claims of the ID token that came with a token, or with the one that it was refreshed from, validated;
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
    return verifyIdToken(idToken, {
      ...options,
      issuer: issuerOf(this.metadata),
      clientId: this.id ?? "",
      key: this.#answers.key,
      algorithms: this.#idTokenAlgorithms,
      clockTolerance: this.#clockTolerance,
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
    return verifyLogoutToken(logoutToken, {
      ...options,
      issuer: this.metadata.issuer,
      clientId: this.id ?? "",
      key: this.#answers.key,
      algorithms: this.#idTokenAlgorithms,
      clockTolerance: this.#clockTolerance,
      now: this.clock() / 1000,
    });
  }

  /**
   * Fetches the claims about the user (OpenID Connect Core, 5.3); see {@link ClientUserInfoOptions}.
   *
   * @throws OAuth2UsageError `ERR_OAUTH_OPTION` when there is no `sub` to compare with; MetadataError, ChallengeError,
   * TokenValidationError
   */
  async userInfo(
    token: AccessToken | string,
    options: ClientUserInfoOptions = {},
  ): Promise<UserInfo> {
    const isText = typeof token === "string";
    const known = isText ? undefined : this.#claims.get(token)?.sub;
    const { expectedSub = known, proof } = options;
    if (expectedSub === undefined)
      throw optionError("expectedSub", undefined, "the sub of the ID token, or false");
    const isBound = isText || token.tokenType?.toLowerCase() === "dpop";
    const value = isText ? token : token.token;
    const request = { ...options, expectedSub, proof: proof ?? (isBound ? undefined : null) };
    return userInfo(this, value, request, this.#answers);
  }

  /**
   * Asks the server about a token (RFC 7662), with a signed answer if wanted (RFC 9701).
   *
   * @throws MetadataError, OAuth2Error, TokenValidationError, InvalidResponseError
   */
  introspect(token: AccessToken | string, options: IntrospectOptions = {}): Promise<Introspection> {
    const value = typeof token === "string" ? token : token.token;
    return introspect(this, value, options, this.#answers);
  }

  /**
   * Pushes an authorization request (RFC 9126). `authCode.start` does it by itself; this is for requests of one's own.
   *
   * @throws MetadataError, OAuth2Error
   */
  pushAuthorization(params: Params, options?: EndpointCallOptions): Promise<PushedAuthorization> {
    return pushAuthorization(this, params, options);
  }

  /**
   * Signs an authorization request with the key of the option `requestObject` (RFC 9101).
   *
   * @throws OAuth2UsageError `ERR_OAUTH_OPTION` when there is no such key
   */
  async signRequestObject(params: Params): Promise<string> {
    const signing = this.#requestObject;
    if (signing === undefined) throw optionError("requestObject", undefined, "a key to sign with");
    const { metadata, id } = this;
    const now = Math.floor(this.clock() / 1000);
    return signRequestObject(params, {
      ...signing,
      clientId: id ?? "",
      audience: metadata.issuer,
      now,
    });
  }

  /**
   * Makes the URL at which the provider signs the user out (OpenID Connect RP-Initiated Logout).
   *
   * @throws MetadataError when the provider has none
   */
  endSessionUrl(options?: EndSessionOptions): string {
    return endSessionUrl(this.metadata, this.id, options);
  }

  #keyOf(header: JwtHeader): VerificationKey | Promise<VerificationKey> {
    if (header.alg.startsWith("HS")) {
      // Only where the options name it: the default has no such algorithm.
      if (this.secret !== null) return new TextEncoder().encode(this.secret);
      throw new MetadataError(`${header.alg} needs a client secret`);
    }
    if (this.jwks === undefined) throw new MetadataError("the server has no jwks_uri");
    return this.jwks.getKey(header);
  }
}

/** Claims of an ID token that was validated when it came. */
function decodeClaims(idToken: string | undefined): JsonRecord | undefined {
  try {
    return idToken === undefined ? undefined : decodeJwt(idToken);
  } catch {
    return undefined;
  }
}

type OwnOptions = Pick<OidcClientOptions, (typeof ownNames)[number]>;

const ownNames = [
  "idTokenAlgorithms",
  "answerAlgorithms",
  "clockTolerance",
  "jwks",
  "defaultScope",
  "pushAuthorization",
  "requestObject",
  "mtlsAliases",
  "allowInsecure",
] as const;

function splitOptions(options: OidcClientOptions): {
  readonly own: OwnOptions;
  readonly rest: ClientOptions;
} {
  const {
    idTokenAlgorithms,
    answerAlgorithms,
    clockTolerance,
    jwks,
    defaultScope,
    pushAuthorization: pushes,
    requestObject,
    mtlsAliases,
    allowInsecure,
    ...rest
  } = options;
  const decided = decidedByMetadata.find((name) => name in rest);
  if (decided !== undefined) throw optionError(decided, "given", "that of the metadata");
  const own = {
    ...{ idTokenAlgorithms, answerAlgorithms, clockTolerance, jwks, defaultScope },
    ...{ pushAuthorization: pushes, requestObject, mtlsAliases, allowInsecure },
  };
  return { own, rest };
}

const decidedByMetadata = ["authorizeUrl", "tokenUrl", "revokeUrl", "issuer"];

function checkOwnOptions(metadata: ServerMetadata, clientId: unknown, own: OwnOptions): void {
  if (typeof clientId !== "string" || clientId === "")
    throw optionError("clientId", clientId, "the client identifier");
  for (const name of ["idTokenAlgorithms", "answerAlgorithms"] as const) {
    const algorithms = own[name];
    if (algorithms !== undefined) checkAlgorithms(algorithms, name);
  }
  const { clockTolerance = 0, allowInsecure = false } = own;
  if (!(clockTolerance >= 0))
    throw optionError("clockTolerance", clockTolerance, "seconds, at least 0");
  const fault = findMetadataFault(metadata, allowInsecure ? isHttpUrl : isSecureUrl);
  if (fault !== undefined) throw new MetadataError(`the metadata is unusable: ${fault}`);
}

/** Options of the core that the metadata decides. */
function coreUrls(metadata: ServerMetadata, usesAliases: boolean): ClientOptions {
  const { issuer, authorization_endpoint: authorizeUrl, mtls_endpoint_aliases } = metadata;
  const aliases = usesAliases ? mtls_endpoint_aliases : undefined;
  const tokenUrl = aliases?.["token_endpoint"] ?? metadata.token_endpoint;
  const revokeUrl = aliases?.["revocation_endpoint"] ?? metadata.revocation_endpoint;
  // The issuer of a template is known with the ID token only.
  return { issuer: isTemplate(issuer) ? undefined : issuer, authorizeUrl, tokenUrl, revokeUrl };
}

function chooseScheme(
  { token_endpoint_auth_methods_supported: supported = ["client_secret_basic"] }: ServerMetadata,
  secret: string | null | undefined,
  key: unknown,
): AuthScheme {
  if (key !== undefined) return "private_key_jwt";
  if (secret === undefined || secret === null) return "none";
  if (supported.includes("client_secret_basic")) return "basic_auth";
  if (supported.includes("client_secret_post")) return "request_body";
  return supported.includes("client_secret_jwt") ? "client_secret_jwt" : "basic_auth";
}

function signedWithKeys(supported: readonly string[] = ["RS256"]): readonly string[] {
  const usable = supported.filter((name) => /^(?:[RP]S\d+|ES\d+|Ed\w+|ML-DSA-\d+)$/.test(name));
  return usable.length === 0 ? ["RS256"] : usable;
}

/** The issuer of Microsoft's metadata for several tenants; the claim `tid` says which. */
const template = "{tenantid}";

function isTemplate(issuer: string): boolean {
  return issuer.includes(template);
}

function issuerOf({ issuer }: ServerMetadata): VerifyIdTokenOptions["issuer"] {
  if (!isTemplate(issuer)) return issuer;
  return ({ tid }: JsonRecord) =>
    typeof tid === "string" && /^[\da-f-]{36}$/i.test(tid)
      ? issuer.replace(template, tid)
      : undefined;
}
