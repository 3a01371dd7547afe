import { Connection } from "../connection/connection.ts";
import { InvalidResponseError, optionError, OAuth2RedirectError } from "../errors.ts";
import { isRedirect } from "../connection/form-request.ts";
import { MetadataError } from "./errors.ts";
import { documentOptionNames, type DocumentOptions } from "./metadata/get-document.ts";
import { type JsonRecord } from "../json-record.ts";
import { endpointUrl, jsonOf, type EndpointCallOptions } from "./provider-endpoint.ts";
import { isHttpUrl, isSecureUrl } from "./metadata/secure-url.ts";
import type { ServerMetadata } from "./metadata/server-metadata.ts";
import { checkNames, optionsOf } from "../option-names.ts";

const registerOptions = optionsOf<RegisterClientOptions>("registerClient", {
  ...documentOptionNames,
  timeout: true,
  signal: true,
  initialAccessToken: true,
});

/** The metadata of a client (RFC 7591, 2; OpenID Connect Registration, 2), by wire names. */
export interface ClientMetadata {
  readonly redirect_uris?: readonly string[] | undefined;
  readonly token_endpoint_auth_method?: string | undefined;
  readonly grant_types?: readonly string[] | undefined;
  readonly response_types?: readonly string[] | undefined;
  readonly client_name?: string | undefined;
  readonly scope?: string | undefined;
  readonly jwks_uri?: string | undefined;
  readonly [member: string]: unknown;
}

/** What the server has registered (RFC 7591, 3.2.1): the metadata as it understood it, and the credentials. */
export interface ClientInformation extends ClientMetadata {
  readonly client_id: string;
  /** Keep it secret. */
  readonly client_secret?: string | undefined;
  /** When the secret ends, in seconds since 1970; 0 is never. */
  readonly client_secret_expires_at?: number | undefined;
  /** Token for `registration_client_uri`. Keep it secret. */
  readonly registration_access_token?: string | undefined;
  readonly registration_client_uri?: string | undefined;
}

/** Options of {@link registerClient}. */
export interface RegisterClientOptions extends DocumentOptions, EndpointCallOptions {
  /** Token that allows to register, where not everybody may. Default: none. */
  readonly initialAccessToken?: string | undefined;
}

/**
 * Registers a client (RFC 7591).
 *
 * @throws MetadataError when the server has no such endpoint
 * @throws OAuth2Error when the server refuses, such as with `invalid_redirect_uri`
 */
export async function registerClient(
  server: ServerMetadata,
  metadata: ClientMetadata,
  options: RegisterClientOptions = {},
): Promise<ClientInformation> {
  checkNames(options, registerOptions);
  const { initialAccessToken, maxResponseBytes = 1_048_576, allowInsecure = false } = options;
  const url = endpointUrl({ metadata: server, usesMtlsAliases: false }, "registration_endpoint");
  if (!(allowInsecure ? isHttpUrl : isSecureUrl)(url))
    throw new MetadataError(`registration is at ${url.origin}, which is neither https nor local`);
  const headers = new Headers({ accept: "application/json", "content-type": "application/json" });
  if (initialAccessToken !== undefined) {
    if (!/^[A-Za-z\d\-._~+/]+=*$/.test(initialAccessToken))
      throw optionError("initialAccessToken", "not an access token", "an access token");
    headers.set("authorization", `Bearer ${initialAccessToken}`);
  }
  const { signal } = options;
  const response = await new Connection(options).send({
    method: "POST",
    url,
    headers,
    body: JSON.stringify(metadata),
    maxResponseBytes,
    signal,
    snaky: false,
    secrets: () => (initialAccessToken === undefined ? [] : [initialAccessToken]),
  });
  const { status } = response;
  if (isRedirect(status))
    throw new OAuth2RedirectError(`registration redirects (HTTP ${status})`, { response });
  if (response.error !== undefined) throw response.error;
  return checkInformation(
    jsonOf(response, "the registration"),
    () =>
      new InvalidResponseError("the registration has no usable client_id or client_secret", {
        response,
      }),
  );
}

function checkInformation(json: JsonRecord, fail: () => InvalidResponseError): ClientInformation {
  const { client_id: id, client_secret: secret, client_secret_expires_at: expiresAt } = json;
  if (typeof id !== "string" || id === "") throw fail();
  if (secret !== undefined && (typeof secret !== "string" || secret === "")) throw fail();
  if (expiresAt !== undefined && typeof expiresAt !== "number") throw fail();
  // The members that are used have been checked; the others are what the server echoes.
  return json as ClientInformation;
}
