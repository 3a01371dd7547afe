import { InvalidResponseError } from "../../errors.ts";
import type { Params } from "../../message/form.ts";
import {
  callEndpoint,
  jsonOf,
  type EndpointCallOptions,
  type ProviderClient,
} from "../provider-endpoint.ts";
import { checkOptions } from "../../check-options.ts";

/** The server's response about a token (RFC 7662, 2.2). Unlisted members are kept unchanged. */
export interface Introspection {
  /** Whether the token can be used. When it is `false`, the other members mean nothing. */
  readonly active: boolean;
  readonly scope?: string | undefined;
  readonly client_id?: string | undefined;
  readonly username?: string | undefined;
  readonly token_type?: string | undefined;
  readonly exp?: number | undefined;
  readonly iat?: number | undefined;
  readonly nbf?: number | undefined;
  readonly sub?: string | undefined;
  readonly aud?: string | readonly string[] | undefined;
  readonly iss?: string | undefined;
  readonly jti?: string | undefined;
  /** Key that the token is bound to (RFC 8705, 3.2; RFC 9449, 6.2). */
  readonly cnf?: Readonly<Record<string, unknown>> | undefined;
  readonly [member: string]: unknown;
}

/** Options of {@link introspect}. */
export interface IntrospectOptions extends EndpointCallOptions {
  /** Kind of the token, so that the server finds it sooner. */
  readonly tokenTypeHint?: "access_token" | "refresh_token" | (string & {}) | undefined;
  /** Further parameters, by their wire names. */
  readonly params?: Params | undefined;
}

const what = "the introspection";

/**
 * Asks the server about a token (RFC 7662).
 *
 * @throws MetadataError when the server has no such endpoint; OAuth2Error when it refuses the
 * client
 * @throws InvalidResponseError for a response that does not say whether the token is active
 */
export async function introspect(
  client: ProviderClient,
  token: string,
  options: IntrospectOptions,
): Promise<Introspection> {
  checkOptions("introspect", options, ["signal", "tokenTypeHint", "params"]);
  const { tokenTypeHint, params, signal } = options;
  const request = { ...params, token, token_type_hint: tokenTypeHint };
  const response = await callEndpoint(client, "introspection_endpoint", request, { signal });
  const answer = jsonOf(response, what);
  if (typeof answer["active"] !== "boolean")
    throw new InvalidResponseError(`${what} does not say whether the token is active`, {
      response,
    });
  // `active` has been checked; the rest is as the server wrote it, as in any of its responses.
  return answer as Introspection;
}
