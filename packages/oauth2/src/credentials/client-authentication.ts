import { encodeBase64 } from "@fetchwork/kit";
import { optionError, OAuth2UsageError } from "../errors.ts";
import { formEncode } from "../message/form.ts";
import { checkOptions } from "../check-options.ts";
import { checkSigningKey, signJwt } from "./sign-jwt.ts";
import type { SigningKey } from "./signing-key.ts";

/**
 * How a client proves to the authorization server who it is (RFC 6749, 2.3):
 *
 * - `basic_auth`: HTTP Basic with the form-encoded identifier and secret.
 * - `request_body`: `client_id` and `client_secret` in the body.
 * - `tls_client_auth`: `client_id` in the body; the certificate of the connection is the proof (RFC
 *   8705, 2).
 * - `private_key_jwt`, `client_secret_jwt`: a signed assertion in the body (RFC 7523, 2.2).
 * - `none`: `client_id` in the body, for public clients.
 * - a function that changes the request as it likes.
 */
export type AuthScheme =
  | "basic_auth"
  | "request_body"
  | "tls_client_auth"
  | "private_key_jwt"
  | "client_secret_jwt"
  | "none"
  | ClientAuthenticator;

/** Names of the schemes that are built in. */
const authSchemes =
  "basic_auth, request_body, tls_client_auth, private_key_jwt, client_secret_jwt, none";

/** A request to an endpoint, for a {@link ClientAuthenticator} to change. */
export interface AuthenticatedRequest {
  /** Parameters of the request; those of the caller are there already. */
  readonly body: URLSearchParams;
  /** Headers of the request; those of the caller are there already. */
  readonly headers: Headers;
  /** URL that the request goes to. */
  readonly endpoint: URL;
  /** The authorization server, when it is known. */
  readonly issuer: string | undefined;
}

/** Adds the credentials of a client to a request, in place. Called once per sent request. */
export type ClientAuthenticator = (request: AuthenticatedRequest) => void | Promise<void>;

/** The key of `private_key_jwt`. */
export interface ClientKey {
  /** Private key: `CryptoKey`, JWK, or PKCS #8 in PEM. */
  readonly key: SigningKey;
  /** Algorithm. Default: the JWK's; else the key's (RSA: `RS256`, P-256: `ES256`, ...). */
  readonly alg?: string | undefined;
  /** Identifier of the key, for the header. Default: that of the JWK. */
  readonly kid?: string | undefined;
  /** Audience of the assertion. Default: the issuer, else the token endpoint's URL. */
  readonly audience?: string | readonly string[] | undefined;
  /** Lifetime of the assertion in seconds. Default: 60. */
  readonly lifetime?: number | undefined;
}

/** The part of a client that {@link createClientAuthenticator} needs. */
export interface ClientCredentials {
  readonly id: string | null;
  readonly secret: string | null;
  readonly scheme: AuthScheme;
  /** Whether Basic credentials are form-encoded (`form`, RFC 6749, 2.3.1) or `raw`. */
  readonly basicEncoding: "form" | "raw";
  readonly clientKey: ClientKey | undefined;
  /** URL of the token endpoint, asked for when an assertion needs it. */
  readonly tokenEndpoint: () => string;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/**
 * Makes the function that adds the credentials of a client to a request. Credentials that the
 * caller of the request set take precedence: an `Authorization` header, `client_id`,
 * `client_secret`, `client_assertion`.
 *
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION` when the scheme is unknown or lacks what it needs
 */
export function createClientAuthenticator(client: ClientCredentials): ClientAuthenticator {
  const { id, secret, scheme, clientKey } = client;
  if (clientKey !== undefined) checkClientKey(clientKey);
  if (typeof scheme === "function") return scheme;
  switch (scheme) {
    case "basic_auth":
      return basicAuth(client);
    case "request_body":
      return ({ body }) => {
        setMissing(body, "client_id", id);
        setMissing(body, "client_secret", secret);
      };
    case "tls_client_auth":
    case "none":
      return ({ body }) => setMissing(body, "client_id", id);
    case "client_secret_jwt":
      if (secret === null || secret === "") {
        throw new OAuth2UsageError("ERR_OAUTH_OPTION", "client_secret_jwt needs a client secret");
      }
      return assertionAuth(client, { key: new TextEncoder().encode(secret), alg: "HS256" });
    case "private_key_jwt":
      return assertionAuth(client, client.clientKey);
    default:
      throw optionError("authScheme", scheme, `a function or one of ${authSchemes}`);
  }
}

function checkClientKey(clientKey: ClientKey): void {
  checkOptions("clientKey", clientKey, ["key", "alg", "kid", "audience", "lifetime"]);
  const { key, alg, lifetime } = clientKey;
  checkSigningKey(key, alg, "clientKey");
  if (lifetime !== undefined && !(Number.isFinite(lifetime) && lifetime > 0)) {
    throw optionError("the lifetime of clientKey", lifetime, "seconds above 0");
  }
}

function basicAuth({ id, secret, basicEncoding }: ClientCredentials): ClientAuthenticator {
  const encode = basicEncoding === "raw" ? (text: string) => text : formEncode;
  // Not `formatBasicCredentials`: with `raw`, servers without an idea of encoding take a colon in
  // the identifier.
  const bytes = new TextEncoder().encode(`${encode(id ?? "")}:${encode(secret ?? "")}`);
  const value = `Basic ${encodeBase64(bytes)}`;
  return ({ headers }) => {
    if (!headers.has("authorization")) headers.set("authorization", value);
  };
}

function assertionAuth(client: ClientCredentials, key: ClientKey | undefined): ClientAuthenticator {
  return async ({ body, issuer }) => {
    if (body.has("client_assertion")) return;
    if (key === undefined) {
      throw new OAuth2UsageError(
        "ERR_OAUTH_OPTION",
        "private_key_jwt needs the option clientKey, or client_assertion among the parameters",
      );
    }
    const now = Math.floor(client.clock() / 1000);
    const claims = {
      iss: client.id,
      sub: client.id,
      aud: key.audience ?? issuer ?? client.tokenEndpoint(),
      jti: crypto.randomUUID(),
      iat: now,
      nbf: now,
      exp: now + (key.lifetime ?? 60),
    };
    const assertion = await signJwt(claims, key.key, { algorithm: key.alg, kid: key.kid });
    setMissing(body, "client_id", client.id);
    body.set("client_assertion_type", assertionType);
    body.set("client_assertion", assertion);
  };
}

function setMissing(body: URLSearchParams, name: string, value: string | null): void {
  if (value !== null && !body.has(name)) body.set(name, value);
}
