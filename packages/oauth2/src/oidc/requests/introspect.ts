import { InvalidResponseError } from "../../errors.ts";
import type { Params } from "../../message/form.ts";
import { ClaimChecker } from "../jwt/check-claims.ts";
import { isJsonRecord, type JsonRecord } from "../../json-record.ts";
import {
  callOptionNames,
  callEndpoint,
  jsonOf,
  type EndpointCallOptions,
  type ProviderClient,
} from "../provider-endpoint.ts";
import { claimTime } from "../jwt/verify-id-token.ts";
import { verifyJwt, type KeySource } from "../jwt/verify-jwt.ts";
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
  /** Whether a signed response is requested and required (RFC 9701). Default: `false`. */
  readonly signed?: boolean | undefined;
}

/** How a signed response is verified. */
export interface SignedResponseOptions {
  readonly key: KeySource;
  readonly algorithms: readonly string[];
  readonly clockTolerance: number;
}

const mediaType = "application/token-introspection+jwt";
const what = "the introspection";

/**
 * Asks the server about a token (RFC 7662). A signed response (RFC 9701) is verified.
 *
 * @throws MetadataError when the server has no such endpoint; OAuth2Error when it refuses the
 * client
 * @throws TokenValidationError for a signed response that is not the server's, or not for us
 * @throws InvalidResponseError for a response that does not say whether the token is active
 */
export async function introspect(
  client: ProviderClient,
  token: string,
  options: IntrospectOptions,
  signedOptions: SignedResponseOptions,
): Promise<Introspection> {
  checkOptions("introspect", options, [...callOptionNames, "tokenTypeHint", "params", "signed"]);
  const { tokenTypeHint, params, signed = false, timeout, signal } = options;
  const request = { ...params, token, token_type_hint: tokenTypeHint };
  const response = await callEndpoint(client, "introspection_endpoint", request, {
    timeout,
    signal,
    headers: { accept: signed ? mediaType : "application/json" },
  });
  const isSigned = response.contentType === mediaType;
  if (signed && !isSigned) throw new InvalidResponseError(`${what} is not signed`, { response });
  const answer = isSigned
    ? await verifySignedResponse(response.body, client, signedOptions)
    : jsonOf(response, what);
  if (answer === undefined || typeof answer["active"] !== "boolean")
    throw new InvalidResponseError(`${what} does not say whether the token is active`, {
      response,
    });
  // `active` has been checked; the rest is as the server wrote it, as in any of its responses.
  return answer as Introspection;
}

async function verifySignedResponse(
  jwt: string,
  { id, metadata }: ProviderClient,
  { key, algorithms, clockTolerance }: SignedResponseOptions,
): Promise<JsonRecord | undefined> {
  const name = "introspection response";
  const { claims } = await verifyJwt(jwt, {
    key,
    algorithms,
    what: name,
    typ: "token-introspection+jwt",
  });
  const check = new ClaimChecker(claims, name);
  check.oneOf("iss", metadata.issuer);
  check.audience(id ?? "");
  check.number("iat");
  check.times(claimTime({ clockTolerance }));
  const { token_introspection: answer } = claims;
  return isJsonRecord(answer) ? answer : undefined;
}
