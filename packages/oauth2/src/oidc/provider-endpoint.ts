import { InvalidResponseError } from "../errors.ts";
import type { TokenClient } from "../token/access-token.ts";
import { sendForm, type FormSender } from "../connection/form-request.ts";
import type { Params } from "../message/form.ts";
import { errorOf, type OAuth2Response } from "../message/response.ts";
import { MetadataError } from "./errors.ts";
import { parseJsonRecord, type JsonRecord } from "../json-record.ts";
import type { EndpointName, ServerMetadata } from "./metadata/server-metadata.ts";

/** A client of a server whose metadata is known. */
export interface ProviderClient extends FormSender, TokenClient {
  readonly metadata: ServerMetadata;
  /** Whether the endpoints of `mtls_endpoint_aliases` are used if present (RFC 8705, 5). */
  readonly usesMtlsAliases: boolean;
}

/** Options of one call to an endpoint. */
export interface EndpointCallOptions {
  /** Aborts the request. Default: none. */
  readonly signal?: AbortSignal | null | undefined;
}

/**
 * Finds the URL of an endpoint.
 *
 * @throws MetadataError when the server has none
 */
export function endpointUrl(
  { metadata, usesMtlsAliases }: Pick<ProviderClient, "metadata" | "usesMtlsAliases">,
  name: EndpointName,
): URL {
  const alias = usesMtlsAliases ? metadata.mtls_endpoint_aliases?.[name] : undefined;
  const url = alias ?? metadata[name];
  if (url !== undefined) return new URL(url);
  throw new MetadataError(`the server has no ${name}`);
}

/**
 * Sends parameters to an endpoint as an authenticated form.
 *
 * @throws OAuth2Error for a response with a status of 400 or more
 */
export async function callEndpoint(
  client: ProviderClient,
  name: EndpointName,
  params: Params,
  { signal }: EndpointCallOptions = {},
): Promise<OAuth2Response> {
  const request = { params, signal, snaky: false } as const;
  const response = await sendForm(client, endpointUrl(client, name), request);
  if (response.error !== undefined) throw response.error;
  return response;
}

/**
 * The JSON object in a response.
 *
 * @throws InvalidResponseError when it has none; OAuth2Error when it is an error all the same
 */
export function jsonOf(response: OAuth2Response, what: string): JsonRecord {
  const { contentType } = response;
  const isJson = contentType === "application/json" || contentType.endsWith("+json");
  const json = isJson ? parseJsonRecord(response.body) : undefined;
  if (json === undefined)
    throw new InvalidResponseError(`${what} is not a JSON object`, { response });
  if (typeof json["error"] === "string") throw errorOf(response);
  return json;
}
