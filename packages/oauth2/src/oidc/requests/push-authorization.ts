import { InvalidResponseError } from "../../errors.ts";
import type { GrantParams } from "../../message/form.ts";
import {
  callEndpoint,
  jsonOf,
  type EndpointCallOptions,
  type ProviderClient,
} from "../provider-endpoint.ts";
import { checkOptions } from "../../check-options.ts";

/** Reference to a pushed authorization request (RFC 9126, 2.2). */
export interface PushedAuthorization {
  /** Stands for the request in the authorization URL, once. */
  readonly requestUri: string;
  /** How long it can be used, in seconds. */
  readonly expiresIn: number;
}

/**
 * Pushes the parameters of an authorization request to the server (RFC 9126). The browser then
 * carries a reference only, and can change nothing.
 *
 * @throws MetadataError when the server has no such endpoint; OAuth2Error when it refuses the
 * request
 */
export async function pushAuthorization(
  client: ProviderClient,
  params: GrantParams,
  options?: EndpointCallOptions,
): Promise<PushedAuthorization> {
  checkOptions("pushAuthorization", options, ["signal"]);
  const request = { ...params, client_id: client.id };
  const name = "pushed_authorization_request_endpoint";
  const response = await callEndpoint(client, name, request, options);
  const what = "the response to the pushed request";
  const { request_uri: requestUri, expires_in: expiresIn } = jsonOf(response, what);
  if (typeof requestUri !== "string" || requestUri === "")
    throw new InvalidResponseError(`${what} has no request_uri`, { response });
  if (typeof expiresIn !== "number" || !(expiresIn > 0))
    throw new InvalidResponseError(`${what} has no expires_in`, { response });
  return { requestUri, expiresIn };
}
