import type { Connection } from "../../connection/connection.ts";
import { optionError } from "../../errors.ts";
import { MetadataError } from "../errors.ts";
import {
  documentOptionNames,
  createDocumentSource,
  type DocumentOptions,
} from "../metadata/get-document.ts";
import { parseJsonRecord, type JsonRecord } from "../../json-record.ts";
import type { Challenge } from "../parse-challenges.ts";
import { urlCheckFor } from "../metadata/secure-url.ts";
import { checkNames, optionsOf } from "../../option-names.ts";

const metadataOptions = optionsOf<ResourceMetadataOptions>("fetchResourceMetadata", {
  ...documentOptionNames,
  url: true,
  signal: true,
});

/** The metadata of a protected resource (RFC 9728, 2). Members that are not listed are kept unchanged. */
export interface ResourceMetadata {
  /** Identifier of the resource; the parameter `resource` of authorization and token requests (RFC 8707). */
  readonly resource: string;
  /** Issuers of the servers whose tokens it takes. */
  readonly authorization_servers?: readonly string[] | undefined;
  readonly scopes_supported?: readonly string[] | undefined;
  readonly bearer_methods_supported?: readonly string[] | undefined;
  readonly jwks_uri?: string | undefined;
  readonly dpop_bound_access_tokens_required?: boolean | undefined;
  readonly [member: string]: unknown;
}

/** Options of {@link fetchResourceMetadata}. */
export interface ResourceMetadataOptions extends DocumentOptions {
  /**
   * URL of the document, such as a challenge names it (see {@link resourceMetadataUrl}). Default: the well-known one of
   * the resource. The document must be of the resource all the same.
   */
  readonly url?: string | URL | undefined;
  readonly signal?: AbortSignal | null | undefined;
}

/**
 * Fetches and checks the metadata of a protected resource (RFC 9728, 3), to learn which authorization server to ask for
 * a token.
 *
 * @throws MetadataError when it is malformed, or of another resource
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION` for a resource that is not a URL, or has a fragment
 */
export async function fetchResourceMetadata(
  resource: string | URL,
  options: ResourceMetadataOptions = {},
  connection?: Connection,
): Promise<ResourceMetadata> {
  checkNames(options, metadataOptions);
  const identifier = URL.canParse(resource) ? new URL(resource) : undefined;
  if (identifier === undefined || identifier.hash !== "")
    throw optionError("resource", String(resource), "a URL without fragment");
  const { url, signal } = options;
  if (url !== undefined && !URL.canParse(url)) throw optionError("url", String(url), "a URL");
  const source = createDocumentSource(options, connection);
  const documentUrl = url === undefined ? wellKnownUrl(identifier) : new URL(url);
  const isAllowed = urlCheckFor(identifier, options.allowInsecure);
  // RFC 9728, 7.7: it comes from a challenge, whose sender must not make us send requests to services on this machine.
  if (!isAllowed(documentUrl))
    throw new MetadataError(
      `the resource metadata is at ${documentUrl.origin}, which is not https`,
    );
  const { body } = await source.get(documentUrl, { what: "the resource metadata", signal });
  const metadata = parseJsonRecord(body);
  if (metadata === undefined) throw new MetadataError("the resource metadata is not a JSON object");
  // RFC 9728, 3.3: else a resource could pass for another one, and collect its tokens.
  const { resource: found } = metadata;
  if (typeof found !== "string" || !URL.canParse(found) || new URL(found).href !== identifier.href)
    throw new MetadataError(`the resource metadata does not belong to ${identifier.href}`);
  return checkMembers(metadata, isAllowed);
}

/** Finds the URL of the metadata that a challenge names (RFC 9728, 5.1). */
export function resourceMetadataUrl(challenges: readonly Challenge[]): string | undefined {
  for (const { parameters } of challenges) {
    const url = parameters.get("resource_metadata");
    if (url !== undefined && URL.canParse(url)) return url;
  }
  return undefined;
}

function wellKnownUrl(identifier: URL): URL {
  const url = new URL(identifier);
  const path = identifier.pathname === "/" ? "" : identifier.pathname;
  url.pathname = `/.well-known/oauth-protected-resource${path}`;
  return url;
}

function checkMembers(metadata: JsonRecord, isAllowed: (url: URL) => boolean): ResourceMetadata {
  for (const name of ["authorization_servers", "scopes_supported", "bearer_methods_supported"]) {
    const value = metadata[name];
    const isList = Array.isArray(value) && value.every((item: unknown) => typeof item === "string");
    if (value !== undefined && !isList)
      throw new MetadataError(`${name} of the resource metadata is not a list of strings`);
  }
  // `resource` and the lists have been checked; the issuers follow.
  const checked = metadata as ResourceMetadata;
  const isIssuer = (url: string): boolean => URL.canParse(url) && isAllowed(new URL(url));
  if (checked.authorization_servers?.every(isIssuer) === false)
    throw new MetadataError("authorization_servers of the resource metadata has no secure URL");
  return checked;
}
