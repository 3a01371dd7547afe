import type { Connection } from "../../connection/connection.ts";
import { optionError } from "../../errors.ts";
import { MetadataError } from "../errors.ts";
import { documentOptionNames, createDocumentSource, type DocumentOptions } from "./get-document.ts";
import { urlCheckFor } from "../../message/secure-url.ts";
import { checkMetadata, type ServerMetadata } from "./server-metadata.ts";
import { checkOptions } from "../../check-options.ts";

/** Options of {@link discover}. */
export interface DiscoverOptions extends DocumentOptions {
  /**
   * Where the document is: `oidc` appends `/.well-known/openid-configuration` to the issuer (OpenID
   * Connect Discovery, 4), `oauth2` puts `/.well-known/oauth-authorization-server` between its host
   * and path (RFC 8414, 3). Default: `oidc`.
   */
  readonly algorithm?: "oidc" | "oauth2" | undefined;
  /**
   * The issuer that the document must name. Default: the one that was asked for. For providers
   * whose documents name another one, such as Microsoft's `{tenantid}`; know why before you set it.
   */
  readonly expectedIssuer?: string | undefined;
  readonly signal?: AbortSignal | null | undefined;
}

/**
 * Fetches and checks the metadata of an authorization server or OpenID provider. `issuer` may be
 * the URL of the document itself, when it contains `/.well-known/`.
 *
 * @throws MetadataError when the document is malformed, of another issuer, or has URLs that are not
 * secure
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION` for an issuer that is not a URL, or has a query or
 * fragment
 */
export async function discover(
  issuer: string | URL,
  options: DiscoverOptions = {},
  connection?: Connection,
): Promise<ServerMetadata> {
  checkOptions("discover", options, [
    ...documentOptionNames,
    "algorithm",
    "expectedIssuer",
    "signal",
  ]);
  const url = checkIssuer(issuer);
  const { algorithm = "oidc", expectedIssuer, signal } = options;
  if (algorithm !== "oidc" && algorithm !== "oauth2")
    throw optionError("algorithm", algorithm, "oidc or oauth2");
  const fetchDocument = createDocumentSource(options, connection);
  const isDocument = url.pathname.includes("/.well-known/");
  const documentUrl = isDocument ? url : wellKnownUrl(url, algorithm);
  const metadata = await fetchDocument(documentUrl, { what: "the metadata", signal });
  checkMetadata(metadata, urlCheckFor(documentUrl, options.allowInsecure));
  const expected = expectedIssuer ?? (isDocument ? documentIssuer(url) : String(issuer));
  if (!isSameIssuer(metadata.issuer, expected)) {
    const found = JSON.stringify(metadata.issuer.slice(0, 200));
    throw new MetadataError(`the issuer of the metadata must be ${expected}, got ${found}`);
  }
  return metadata;
}

function checkIssuer(issuer: string | URL): URL {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined;
  if (url !== undefined && url.search === "" && url.hash === "") return url;
  throw optionError("issuer", url?.origin ?? issuer, "a URL without query and fragment");
}

function wellKnownUrl(issuer: URL, algorithm: "oidc" | "oauth2"): URL {
  const url = new URL(issuer);
  const path = url.pathname.replace(/\/$/, "");
  url.pathname =
    algorithm === "oidc"
      ? `${path}/.well-known/openid-configuration`
      : `/.well-known/oauth-authorization-server${path}`;
  return url;
}

/** The issuer whose document is at a URL, by either rule. */
function documentIssuer(url: URL): string {
  return url.href.replace(/\/\.well-known\/[^/]+/, "");
}

/** Compares as URLs: only the final slash of a bare host, and its spelling, may differ. */
function isSameIssuer(found: string, expected: string): boolean {
  return (
    found === expected || (URL.canParse(expected) && new URL(found).href === new URL(expected).href)
  );
}
