import type { AuthScheme } from "../credentials/client-authentication.ts";
import {
  endpointNames,
  sharedOptionNames,
  type MetadataOption,
  type OAuth2ClientOptions,
} from "../client/client-options.ts";
import type { ConnectionBuilder } from "../connection/connection-builder.ts";
import { optionError } from "../errors.ts";
import type { Scope } from "../message/form.ts";
import type { DiscoverOptions } from "./metadata/discover.ts";
import type { JsonRecord } from "../json-record.ts";
import type { ServerMetadata } from "./metadata/server-metadata.ts";
import type { VerifyIdTokenOptions } from "./jwt/verify-id-token.ts";
import { checkAlgorithms, isKeyAlgorithm } from "./jwt/verify-jwt.ts";
import { checkOptions, checkTypes } from "../check-options.ts";

/** Options of an {@link OidcClient}. Values in the server's metadata are not options. */
export interface OidcClientOptions extends Omit<OAuth2ClientOptions, MetadataOption> {
  /**
   * Signature algorithms of all that the server signs: ID tokens, logout tokens, user information.
   * Default: those of the server that sign with a private key, else `RS256`. `HS256` must be named,
   * and is verified with the client secret.
   */
  readonly idTokenAlgorithms?: readonly string[] | undefined;
  /** How far the server's clock may differ, in seconds. Default: `30`. */
  readonly clockTolerance?: number | undefined;
  /**
   * Scope of a sign-in without one; `""`: none, for servers without `openid`. Default: `openid`.
   */
  readonly defaultScope?: Scope | undefined;
  /** Whether sign-ins are pushed (RFC 9126). Default: whether the server requires it. */
  readonly pushAuthorization?: boolean | undefined;
  /** Whether `http` is allowed to other machines than this. Default: `false`. */
  readonly allowInsecure?: boolean | undefined;
  /** Customizes the connection, as the fourth argument of `OAuth2Client`. */
  readonly build?: ((connection: ConnectionBuilder) => void) | undefined;
}

/** Options of {@link OidcClient.discover}. */
export interface OidcDiscoverOptions extends OidcClientOptions {
  /** See {@link DiscoverOptions.algorithm}. */
  readonly discovery?: DiscoverOptions["algorithm"] | undefined;
  /** See {@link DiscoverOptions.expectedIssuer}. */
  readonly expectedIssuer?: string | undefined;
  /** Aborts the request for the metadata. */
  readonly signal?: AbortSignal | null | undefined;
}

/** Names of the options, for those of `OidcClient.discover` too. */
export const oidcOptionNames: readonly (keyof OidcClientOptions)[] = [
  ...sharedOptionNames,
  "idTokenAlgorithms",
  "clockTolerance",
  "defaultScope",
  "pushAuthorization",
  "allowInsecure",
  "build",
];

/**
 * Checks the options of an `OidcClient`, and returns those of them that an `OAuth2Client` has.
 *
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION`, also for one that the metadata decides
 */
export function checkOidcOptions(
  clientId: unknown,
  options: OidcClientOptions,
): OAuth2ClientOptions {
  const decided = [...endpointNames, "issuer"].find((name) => name in options);
  if (decided !== undefined) throw optionError(decided, "given", "that of the metadata");
  checkOptions("OidcClient", options, oidcOptionNames);
  if (typeof clientId !== "string" || clientId === "")
    throw optionError("clientId", clientId, "the client identifier");
  const { idTokenAlgorithms, clockTolerance = 0, ...others } = options;
  const { defaultScope: _scope, pushAuthorization, allowInsecure, build: _build, ...rest } = others;
  checkTypes("boolean", { allowInsecure, pushAuthorization });
  if (idTokenAlgorithms !== undefined) checkAlgorithms(idTokenAlgorithms, "idTokenAlgorithms");
  if (!(clockTolerance >= 0))
    throw optionError("clockTolerance", clockTolerance, "seconds, at least 0");
  return rest;
}

/** Options of an `OAuth2Client` that the metadata decides. */
export function coreOptions(metadata: ServerMetadata, usesAliases: boolean): OAuth2ClientOptions {
  const { issuer, authorization_endpoint: authorizeUrl, mtls_endpoint_aliases } = metadata;
  const aliases = usesAliases ? mtls_endpoint_aliases : undefined;
  const tokenUrl = aliases?.["token_endpoint"] ?? metadata.token_endpoint;
  const revokeUrl = aliases?.["revocation_endpoint"] ?? metadata.revocation_endpoint;
  // The issuer of a template is known with the ID token only.
  return { issuer: isTemplate(issuer) ? undefined : issuer, authorizeUrl, tokenUrl, revokeUrl };
}

/** Chooses how the client authenticates: as its credentials allow, and the server wants. */
export function chooseScheme(
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

/** Algorithms that sign with a private key. */
export function signedWithKeys(supported: readonly string[] = ["RS256"]): readonly string[] {
  const usable = supported.filter(isKeyAlgorithm);
  return usable.length === 0 ? ["RS256"] : usable;
}

/** The issuer of Microsoft's metadata for several tenants; the claim `tid` names the tenant. */
const template = "{tenantid}";

function isTemplate(issuer: string): boolean {
  return issuer.includes(template);
}

/** The issuer that ID tokens must have. */
export function expectedIssuer({ issuer }: ServerMetadata): VerifyIdTokenOptions["issuer"] {
  if (!isTemplate(issuer)) return issuer;
  return ({ tid }: JsonRecord) =>
    typeof tid === "string" && /^[\da-f-]{36}$/i.test(tid)
      ? issuer.replace(template, tid)
      : undefined;
}
