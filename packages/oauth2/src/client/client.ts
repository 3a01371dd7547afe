import { AccessToken } from "../token/access-token.ts";
import { createTargetCheck, type TargetCheck } from "../message/allowed-origins.ts";
import { AssertionGrant } from "../grants/assertion.ts";
import { AuthCodeGrant, type AuthorizeParams } from "../grants/auth-code.ts";
import {
  createClientAuthenticator,
  type ClientAuthenticator,
} from "../credentials/client-authentication.ts";
import { ClientCredentialsGrant } from "../grants/client-credentials.ts";
import {
  checkClientCredentials,
  checkClientOptions,
  type endpointNames,
  type OAuth2ClientOptions,
} from "./client-options.ts";
import { buildConnection, type ConnectionBuilder } from "../connection/connection-builder.ts";
import { checkCertificate, checkConnectionOpts, needsNode } from "../connection/connection-opts.ts";
import { Connection } from "../connection/connection.ts";
import { OAuth2Error, OAuth2UsageError, optionError } from "../errors.ts";
import { sendForm, type FormSender, type TokenMethod } from "../connection/form-request.ts";
import { toPairs, withQuery, withScopeAsText, type Params } from "../message/form.ts";
import { ImplicitGrant } from "../grants/implicit.ts";
import { inspectAsJson } from "../inspect-as-json.ts";
import {
  consoleLogger,
  debugFromEnvironment,
  guardDebugLogger,
  type GuardedLogger,
} from "../log/logger.ts";
import { loadNodeTransport } from "../connection/load-node-transport.ts";
import { PasswordGrant } from "../grants/password.ts";
import type { RequestProof } from "../connection/proof.ts";
import type { BodyEncoding } from "../message/request-body.ts";
import { keptParams } from "../token/refresh-params.ts";
import { createResolver, parseSite, type UrlResolver } from "../message/resolve-url.ts";
import {
  sendToResource,
  type ResourceRequestOptions,
  type ResourceSender,
} from "../connection/resource-request.ts";
import type { OAuth2Response } from "../message/response.ts";
import { processSettings } from "../process-settings.ts";
import {
  defaultTokenOptions,
  splitTokenOptions,
  type TokenOptions,
} from "../token/token-options.ts";
import { parseTokenBody, readTokenResponse } from "../token/token-response.ts";
import { splitTokenParams, type TokenParams } from "../token/token-params.ts";

/**
 * A client of one authorization server: asks for tokens with any grant, revokes them, and sends
 * requests.
 *
 * @example
 * ```ts
 * const client = new OAuth2Client("id", "secret", { site: "https://example.com" });
 * const token = await client.clientCredentials.getToken({ scope: "read" });
 * const response = await token.get("/api/me");
 * ```
 */
export class OAuth2Client implements FormSender, ResourceSender {
  static {
    inspectAsJson(this.prototype);
  }

  /** Identifier of the client. */
  readonly id: string | null;
  readonly #secret: string | null;
  readonly #site: URL | undefined;
  readonly #resolve: UrlResolver;
  readonly #endpoints: Readonly<Record<(typeof endpointNames)[number], string>>;
  readonly #tokenMethod: TokenMethod;
  readonly #logger: GuardedLogger;
  #warnedOfQuery = false;
  /** Resolved with the first token request; until then a client may lack what only that needs. */
  #tokenEndpoint: URL | undefined;
  /** Default of `redirect_uri`. */
  readonly redirectUri: string | undefined;
  /** Whether a status of 400 or more is thrown. */
  readonly raiseErrors: boolean;
  /** The authorization server, when it is known. */
  readonly issuer: string | undefined;
  /** Returns milliseconds since the epoch. */
  readonly clock: () => number;
  /** Proof of possession that every request carries. */
  readonly proof: RequestProof | undefined;
  /** Adds the credentials of the client to a request. */
  readonly authenticate: ClientAuthenticator;
  /** Sends single requests. */
  readonly connection: Connection;
  /** Throws for a target that `allowedOrigins` does not name. */
  readonly checkTarget: TargetCheck;
  /** Maximum number of redirects that are followed. */
  readonly maxRedirects: number;
  /** Maximum bytes of a response of the authorization server. */
  readonly maxResponseBytes: number;
  /** How objects are sent as bodies. */
  readonly bodyEncoding: BodyEncoding;
  /** Authorization code grant (RFC 6749, 4.1). */
  readonly authCode: AuthCodeGrant;
  /** Implicit grant (RFC 6749, 4.2), which RFC 9700 advises against. */
  readonly implicit: ImplicitGrant;
  /** Resource owner password grant (RFC 6749, 4.3). */
  readonly password: PasswordGrant;
  /** Client credentials grant (RFC 6749, 4.4). */
  readonly clientCredentials: ClientCredentialsGrant;
  /** Assertion grant with a JWT (RFC 7523). */
  readonly assertion: AssertionGrant;

  /**
   * Makes a client.
   *
   * @param build customizes the connection
   * @throws OAuth2UsageError `ERR_OAUTH_OPTION`
   */
  constructor(
    id: string | null,
    secret?: string | null,
    options: OAuth2ClientOptions = {},
    build?: (connection: ConnectionBuilder) => void,
  ) {
    checkClientOptions(options);
    checkClientCredentials(id, secret);
    const {
      site,
      authorizeUrl = "oauth/authorize",
      tokenUrl = "oauth/token",
      revokeUrl = "oauth/revoke",
      tokenMethod = "post",
      connectionOpts = {},
      raiseErrors = true,
      maxRedirects = 5,
      logger = consoleLogger,
      debug = debugFromEnvironment(),
      maxResponseBytes = 1_048_576,
      clock = Date.now,
    } = options;
    this.id = id;
    this.#secret = secret ?? null;
    this.#site = site === undefined || site === null ? undefined : parseSite(site);
    this.#resolve = createResolver(this.#site);
    this.#endpoints = { authorizeUrl, tokenUrl, revokeUrl };
    this.#checkEndpoints();
    this.#tokenMethod = tokenMethod;
    this.#logger = guardDebugLogger(logger);
    this.redirectUri = options.redirectUri;
    this.raiseErrors = raiseErrors;
    this.issuer = options.issuer;
    this.clock = clock;
    this.proof = options.dpop;
    this.maxRedirects = maxRedirects;
    this.maxResponseBytes = maxResponseBytes;
    this.checkTarget = createTargetCheck(options.allowedOrigins, this.#site);
    const scheme = options.authScheme ?? (this.#secret === null ? "none" : "basic_auth");
    this.authenticate = createClientAuthenticator({
      id,
      secret: this.#secret,
      scheme,
      basicEncoding: options.basicEncoding ?? "form",
      clientKey: options.clientKey,
      tokenEndpoint: () => this.tokenUrl(),
      clock,
    });
    checkConnectionOpts(connectionOpts, options.fetch);
    const transport = needsNode(connectionOpts) ? loadNodeTransport(connectionOpts) : options.fetch;
    const built = buildConnection(transport, build);
    if (scheme === "tls_client_auth" && (options.fetch ?? built.adapter) === undefined) {
      checkCertificate(connectionOpts);
    }
    this.bodyEncoding = built.encoding;
    this.connection = new Connection({
      fetch: built.fetch,
      headers: connectionOpts.headers,
      timeout: connectionOpts.timeout,
      debugLogger: debug ? this.#logger : undefined,
    });
    this.authCode = new AuthCodeGrant(this);
    this.implicit = new ImplicitGrant(this);
    this.password = new PasswordGrant(this);
    this.clientCredentials = new ClientCredentialsGrant(this);
    this.assertion = new AssertionGrant(this);
  }

  /** Base URL of the provider. */
  get site(): string | undefined {
    return this.#site?.href;
  }

  /** Secret of the client, for the checks that need it (HMAC-signed ID tokens). */
  get secret(): string | null {
    return this.#secret;
  }

  /**
   * Makes the URL of the authorization endpoint with these parameters and no others. If they have
   * no redirect URI, that of the client is used.
   *
   * @throws OAuth2UsageError `ERR_OAUTH_OPTION` when `client_secret` is among them
   */
  authorizeUrl({ redirectUri = this.redirectUri, ...params }: AuthorizeParams = {}): string {
    if (Object.hasOwn(params, "client_secret")) {
      throw new OAuth2UsageError(
        "ERR_OAUTH_OPTION",
        "client_secret does not belong into an authorization URL",
      );
    }
    const defaults = Object.hasOwn(params, "redirect_uri") ? {} : { redirect_uri: redirectUri };
    return this.#endpoint(this.#endpoints.authorizeUrl, { ...params, ...defaults }).href;
  }

  /** Makes the URL of the token endpoint. */
  tokenUrl(params: Params = {}): string {
    return this.#endpoint(this.#endpoints.tokenUrl, params).href;
  }

  /** Makes the URL of the revocation endpoint. */
  revokeUrl(params: Params = {}): string {
    return this.#endpoint(this.#endpoints.revokeUrl, params).href;
  }

  /**
   * Resolves a path or URL as requests do.
   *
   * @throws OAuth2UsageError `ERR_OAUTH_TARGET`
   */
  resolve(path: string | URL): URL {
    return this.#resolve(path);
  }

  /**
   * Sends a request without a token.
   *
   * @throws OAuth2Error with a status of 400 or more, unless `raiseErrors` is false;
   * OAuth2ConnectionError, OAuth2TimeoutError, OAuth2RedirectError, InvalidResponseError;
   * OAuth2UsageError before anything is sent
   */
  async request(
    verb: string,
    path: string | URL,
    options: ResourceRequestOptions = {},
  ): Promise<OAuth2Response> {
    return sendToResource(this, { verb, url: this.resolve(path), credential: undefined }, options);
  }

  /**
   * Asks for a token with exactly these parameters, and the credentials of the client: for any
   * grant type. The token keeps `scope`, `resource` and the caller's own parameters for its
   * refreshes. Redirects are not followed.
   *
   * With `raiseErrors: false` an error of the server is the `error` of a token without a value.
   *
   * @throws OAuth2Error when the server refuses; InvalidResponseError when its response has no
   * usable token; OAuth2RedirectError, OAuth2ConnectionError, OAuth2TimeoutError
   */
  async getToken(
    params: TokenParams,
    options: TokenOptions = defaultTokenOptions,
  ): Promise<AccessToken> {
    // Before anything is sent: a code or a refresh token counts once.
    splitTokenOptions(options);
    const { params: sent, options: request } = splitTokenParams(params);
    const { tokenMethod = this.#tokenMethod, raiseErrors = this.raiseErrors } = request;
    if (tokenMethod !== "post") this.#warnOfQuery();
    this.#tokenEndpoint ??= this.#endpoint(this.#endpoints.tokenUrl, {});
    const response = await sendForm(this, this.#tokenEndpoint, {
      ...request,
      parse: request.parse || parseTokenBody,
      params: sent,
      method: tokenMethod,
    });
    try {
      const { refreshParams = keptParams(sent) } = options;
      return readTokenResponse(this, response, { ...options, refreshParams });
    } catch (error) {
      if (raiseErrors || !(error instanceof OAuth2Error)) throw error;
      return AccessToken.failed(this, error);
    }
  }

  /**
   * Revokes a token (RFC 7009). The parameters go into the body, whatever `tokenMethod` the client
   * has.
   *
   * @throws OAuth2Error when the server refuses, unless `raiseErrors` is false
   */
  async revokeToken(
    token: string,
    hint?: "access_token" | "refresh_token" | null,
    params: TokenParams = {},
  ): Promise<OAuth2Response> {
    if (typeof token !== "string") throw optionError("the token to revoke", typeof token, "text");
    const { params: sent, options } = splitTokenParams(params);
    const response = await sendForm(this, this.#endpoint(this.#endpoints.revokeUrl, {}), {
      ...options,
      params: { ...sent, token, token_type_hint: hint },
      method: options.tokenMethod,
    });
    const { raiseErrors = this.raiseErrors } = options;
    if (raiseErrors && response.error !== undefined) throw response.error;
    return response;
  }

  /** Writes a warning to the logger. */
  warn(message: string): void {
    this.#logger.warn(message);
  }

  /** Returns the settings without secrets. */
  toJSON(): unknown {
    const secret = this.#secret === null ? null : processSettings().filteredLabel;
    return { id: this.id, secret, site: this.site };
  }

  /** Resolves what needs no request; a client without a site may lack the rest. */
  #checkEndpoints(): void {
    for (const [name, path] of Object.entries(this.#endpoints)) {
      if (this.#site === undefined && !/^[a-z][a-z\d+.-]*:/i.test(path)) continue;
      try {
        this.#resolve(path);
      } catch (error) {
        if (!(error instanceof OAuth2UsageError)) throw error;
        throw new OAuth2UsageError("ERR_OAUTH_OPTION", `${name} is invalid: ${error.message}`);
      }
    }
  }

  #endpoint(path: string, params: Params): URL {
    return withQuery(this.#resolve(path), toPairs(withScopeAsText(params)));
  }

  #warnOfQuery(): void {
    if (this.#warnedOfQuery) return;
    this.#warnedOfQuery = true;
    this.warn("OAuth2: tokenMethod sends credentials in URLs, where logs and proxies keep them");
  }
}
