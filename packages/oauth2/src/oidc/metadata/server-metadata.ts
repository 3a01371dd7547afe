import { MetadataError } from "../errors.ts";
import { isJsonRecord } from "../../json-record.ts";

/**
 * Metadata of an authorization server or OpenID provider (RFC 8414, 2; OpenID Connect
 * Discovery, 3). Members that are not listed are kept unchanged.
 */
export interface ServerMetadata {
  /** Identifier of the server: a URL without query and fragment, in all it signs. */
  readonly issuer: string;
  readonly authorization_endpoint?: string | undefined;
  readonly token_endpoint?: string | undefined;
  readonly jwks_uri?: string | undefined;
  readonly userinfo_endpoint?: string | undefined;
  readonly revocation_endpoint?: string | undefined;
  readonly introspection_endpoint?: string | undefined;
  /** RFC 8628, 4. */
  readonly device_authorization_endpoint?: string | undefined;
  /** RFC 9126, 5. */
  readonly pushed_authorization_request_endpoint?: string | undefined;
  /** RFC 9126, 5: the server takes authorization requests by way of that endpoint only. */
  readonly require_pushed_authorization_requests?: boolean | undefined;
  /** OpenID Connect RP-Initiated Logout, 2.1. */
  readonly end_session_endpoint?: string | undefined;
  readonly scopes_supported?: readonly string[] | undefined;
  readonly token_endpoint_auth_methods_supported?: readonly string[] | undefined;
  readonly id_token_signing_alg_values_supported?: readonly string[] | undefined;
  /** RFC 9207, 3: every authorization response has `iss`. */
  readonly authorization_response_iss_parameter_supported?: boolean | undefined;
  /** RFC 8705, 5: endpoints to use with a client certificate. */
  readonly mtls_endpoint_aliases?: Readonly<Record<string, string>> | undefined;
  readonly [member: string]: unknown;
}

const endpoints = [
  "authorization_endpoint",
  "token_endpoint",
  "jwks_uri",
  "userinfo_endpoint",
  "revocation_endpoint",
  "introspection_endpoint",
  "device_authorization_endpoint",
  "pushed_authorization_request_endpoint",
  "end_session_endpoint",
] as const;

const lists = [
  "scopes_supported",
  "token_endpoint_auth_methods_supported",
  "id_token_signing_alg_values_supported",
] as const;

const flags = [
  "require_pushed_authorization_requests",
  "authorization_response_iss_parameter_supported",
] as const;

/** Names of the members of {@link ServerMetadata} that are URLs. */
export type EndpointName = (typeof endpoints)[number];

/**
 * Checks the members of a metadata document.
 *
 * @throws MetadataError for the first one that is unusable
 */
export function checkMetadata(
  metadata: Readonly<Record<string, unknown>>,
  isAllowedUrl: (url: URL) => boolean,
): asserts metadata is ServerMetadata {
  const fault = findMetadataFault(metadata, isAllowedUrl);
  if (fault !== undefined) throw new MetadataError(`the metadata is unusable: ${fault}`);
}

function findMetadataFault(
  metadata: Readonly<Record<string, unknown>>,
  isAllowedUrl: (url: URL) => boolean,
): string | undefined {
  const { issuer, mtls_endpoint_aliases: aliases } = metadata;
  if (typeof issuer !== "string" || !URL.canParse(issuer)) return "issuer is not a URL";
  for (const name of endpoints) {
    const fault = findUrlFault(metadata[name], isAllowedUrl);
    if (fault !== undefined) return `${name} ${fault}`;
  }
  if (aliases !== undefined) {
    if (!isJsonRecord(aliases)) return "mtls_endpoint_aliases is not an object";
    for (const [name, url] of Object.entries(aliases)) {
      const fault = findUrlFault(url, isAllowedUrl);
      if (fault !== undefined) return `mtls_endpoint_aliases.${name.slice(0, 60)} ${fault}`;
    }
  }
  const wrongList = lists.find((name) => !isOptionalTextList(metadata[name]));
  if (wrongList !== undefined) return `${wrongList} is not a list of strings`;
  const wrongFlag = flags.find((name) => !["boolean", "undefined"].includes(typeof metadata[name]));
  return wrongFlag === undefined ? undefined : `${wrongFlag} is neither true nor false`;
}

function findUrlFault(url: unknown, isAllowedUrl: (url: URL) => boolean): string | undefined {
  if (url === undefined) return undefined;
  if (typeof url !== "string" || !URL.canParse(url)) return "is not a URL";
  return isAllowedUrl(new URL(url)) ? undefined : "is neither https nor of this machine";
}

function isOptionalTextList(value: unknown): boolean {
  return (
    value === undefined ||
    (Array.isArray(value) && value.every((item: unknown) => typeof item === "string"))
  );
}
