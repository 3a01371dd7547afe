import type { AllowedOrigins } from "../message/allowed-origins.ts";
import type { AuthScheme, ClientKey } from "../credentials/client-authentication.ts";
import type { ConnectionOpts } from "../connection/connection-opts.ts";
import { optionError } from "../errors.ts";
import type { Fetch } from "../connection/fetch.ts";
import type { TokenMethod } from "../connection/form-request.ts";
import type { DebugLogger } from "../log/logger.ts";
import type { RequestProof } from "../connection/proof.ts";
import { checkOptions, checkTypes } from "../check-options.ts";

/** Options of an {@link OAuth2Client}. */
export interface OAuth2ClientOptions {
  /** Base URL of the provider. Default: none; then every URL must be absolute. */
  readonly site?: string | URL | undefined;
  /** Authorization endpoint; relative to the path of `site`. Default: `oauth/authorize`. */
  readonly authorizeUrl?: string | undefined;
  /** Token endpoint. Default: `oauth/token`. */
  readonly tokenUrl?: string | undefined;
  /** Revocation endpoint. Default: `oauth/revoke`. */
  readonly revokeUrl?: string | undefined;
  /** `redirect_uri` of authorization URLs and code exchanges that have none. Default: none. */
  readonly redirectUri?: string | undefined;
  /** How token requests are sent; others than `post` put secrets in URLs. Default: `post`. */
  readonly tokenMethod?: TokenMethod | undefined;
  /** How the client authenticates. Default: `basic_auth`; `none` for a client without a secret. */
  readonly authScheme?: AuthScheme | undefined;
  /**
   * Whether Basic credentials are form-encoded, as RFC 6749, 2.3.1 wants, or `raw`, as some servers
   * do. Default: `form`.
   */
  readonly basicEncoding?: "form" | "raw" | undefined;
  /** Key of `private_key_jwt`. Default: none. */
  readonly clientKey?: ClientKey | undefined;
  /** Identifier of the authorization server: audience of assertions. Default: unknown. */
  readonly issuer?: string | undefined;
  /** Options of the connection: timeouts, proxy, certificates. Default: none. */
  readonly connectionOpts?: ConnectionOpts | undefined;
  /** Whether a status of 400 or more is thrown; else it is `error`. Default: true. */
  readonly raiseErrors?: boolean | undefined;
  /** Redirects followed for a resource; then the 3xx is returned. Default: 5; 0 at endpoints. */
  readonly maxRedirects?: number | undefined;
  /** Where debug output and warnings go. Default: the console. */
  readonly logger?: DebugLogger | undefined;
  /** Whether every request and response is logged. Default: whether `OAUTH_DEBUG` is `true`. */
  readonly debug?: boolean | undefined;
  /** Sends requests. Default: the `fetch` of the platform. */
  readonly fetch?: Fetch | undefined;
  /** Where resource requests may go. Default: `any`: absolute URLs get the token. */
  readonly allowedOrigins?: AllowedOrigins | undefined;
  /** Maximum response of an endpoint, in bytes. Default: 1_048_576. */
  readonly maxResponseBytes?: number | undefined;
  /** Proof of possession (RFC 9449), such as `DPoP` of `oauth2/oidc`. Default: none. */
  readonly dpop?: RequestProof | undefined;
  /** Returns milliseconds since the epoch. Default: `Date.now`. */
  readonly clock?: (() => number) | undefined;
}

/** Options that are resolved against the site. */
export const endpointNames = ["authorizeUrl", "tokenUrl", "revokeUrl"] as const;

/** Options that the metadata of a server decides. */
export type MetadataOption = "authorizeUrl" | "tokenUrl" | "revokeUrl" | "issuer";

/** Names of the options that an `OidcClient` has too. */
export const sharedOptionNames: readonly Exclude<keyof OAuth2ClientOptions, MetadataOption>[] = [
  "site",
  "redirectUri",
  "tokenMethod",
  "authScheme",
  "basicEncoding",
  "clientKey",
  "connectionOpts",
  "raiseErrors",
  "maxRedirects",
  "logger",
  "debug",
  "fetch",
  "allowedOrigins",
  "maxResponseBytes",
  "dpop",
  "clock",
];

/**
 * Checks what types do not.
 *
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION`
 */
export function checkClientOptions(options: OAuth2ClientOptions): void {
  checkOptions("OAuth2Client", options, [...sharedOptionNames, ...endpointNames, "issuer"]);
  const { tokenMethod, basicEncoding, fetch, logger, clock, raiseErrors, debug } = options;
  if (!["post", "get", "post_with_query_string", undefined].includes(tokenMethod)) {
    throw optionError("tokenMethod", tokenMethod, "post, get or post_with_query_string");
  }
  if (!["form", "raw", undefined].includes(basicEncoding)) {
    throw optionError("basicEncoding", basicEncoding, "form or raw");
  }
  checkTypes("boolean", { raiseErrors, debug });
  checkTypes("function", { fetch, clock });
  for (const name of ["redirectUri", "issuer", ...endpointNames] as const) {
    const value: unknown = options[name];
    if (value !== undefined && (typeof value !== "string" || value === "")) {
      throw optionError(name, value, "text that is not empty");
    }
  }
  for (const name of ["prove", "accept"] as const) {
    const { dpop } = options;
    if (dpop !== undefined && typeof Reflect.get(Object(dpop), name) !== "function") {
      throw optionError("dpop", typeof dpop, "a proof such as DPoP");
    }
  }
  if (logger !== undefined && typeof Reflect.get(Object(logger), "debug") !== "function") {
    throw optionError("logger", "an object", "one with a function debug");
  }
  for (const name of ["maxRedirects", "maxResponseBytes"] as const) {
    const value = options[name];
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 0)) {
      throw optionError(name, value, "a whole number");
    }
  }
}

/**
 * Checks the identifier and the secret of a client; a missing environment variable is `undefined`.
 *
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION`
 */
export function checkClientCredentials(id: unknown, secret: unknown): void {
  if (id !== null && (typeof id !== "string" || id === "")) {
    throw optionError("the client identifier", id, "text that is not empty, or null for none");
  }
  if (secret !== undefined && secret !== null && typeof secret !== "string") {
    throw optionError("the client secret", `a value of type ${typeof secret}`, "text, or null");
  }
}
