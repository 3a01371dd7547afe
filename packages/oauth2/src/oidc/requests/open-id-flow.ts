import type { AccessToken } from "../../token/access-token.ts";
import type { AuthorizationTransaction, OpenIdFlow } from "../../grants/authorization-flow.ts";
import type { Params, Scope } from "../../message/form.ts";
import { TokenValidationError } from "../errors.ts";
import type { ProviderClient } from "../provider-endpoint.ts";
import { pushAuthorization } from "./push-authorization.ts";
import { checkSignIn, type IdTokenClaims } from "../jwt/verify-id-token.ts";

/** The part of a client that the flow needs. */
export interface OpenIdFlowClient extends ProviderClient {
  claims(token: AccessToken): IdTokenClaims | undefined;
}

/** How sign-ins of a client are requested. */
export interface OpenIdFlowOptions {
  readonly defaultScope: Scope | undefined;
  readonly pushes: boolean;
  /** In seconds. */
  readonly clockTolerance: number;
}

/** Makes what OpenID Connect adds to the authorization code flow of a client. */
export function createOpenIdFlow(client: OpenIdFlowClient, options: OpenIdFlowOptions): OpenIdFlow {
  const { defaultScope, pushes, clockTolerance: tolerance } = options;
  const { metadata } = client;
  return {
    defaultScope,
    requiresIssuer: metadata.authorization_response_iss_parameter_supported ?? false,
    async finishUrl(url) {
      const { proof } = client;
      // RFC 9449, 10: the code is of use to the holder of the key only.
      if (proof?.thumbprint !== undefined && !url.searchParams.has("dpop_jkt"))
        url.searchParams.set("dpop_jkt", proof.thumbprint);
      if (!pushes) return url.href;
      const pushed = new URL(metadata.authorization_endpoint ?? url);
      const { requestUri } = await pushAuthorization(client, paramsOf(url, pushed));
      if (client.id !== null) pushed.searchParams.set("client_id", client.id);
      pushed.searchParams.set("request_uri", requestUri);
      return pushed.href;
    },
    verify(token, transaction) {
      checkTransaction(client.claims(token), transaction, {
        now: client.clock() / 1000,
        tolerance,
      });
    },
  };
}

function checkTransaction(
  claims: IdTokenClaims | undefined,
  { nonce, maxAge }: AuthorizationTransaction,
  time: { readonly now: number; readonly tolerance: number },
): void {
  if (claims !== undefined) checkSignIn(claims, { nonce, maxAge, ...time });
  else if (nonce !== undefined)
    throw new TokenValidationError(
      "the response has no ID token although the scope contains openid",
    );
}

/** A request's parameters without the endpoint's; replaced ones are the request's. */
function paramsOf({ searchParams }: URL, endpoint: URL): Params {
  const isOwn = (name: string): boolean =>
    searchParams.getAll(name).join(" ") !== endpoint.searchParams.getAll(name).join(" ");
  const names = new Set([...searchParams.keys()].filter(isOwn));
  const entries = Array.from(names, (name): readonly [string, unknown] => {
    const values = searchParams.getAll(name);
    return [name, values.length === 1 ? values[0] : values];
  });
  return Object.fromEntries<unknown>(entries);
}
