import type { AccessToken } from "../token/access-token.ts";
import { InvalidResponseError, OAuth2Error } from "../errors.ts";
import type { GrantParams } from "../message/form.ts";
import type { JsonRecord } from "../json-record.ts";
import { OidcClient } from "../oidc/oidc-client.ts";
import type { OidcClientOptions } from "../oidc/oidc-client-options.ts";
import type { ServerMetadata } from "../oidc/metadata/server-metadata.ts";

/** A signed-in user. `issuer` and `id` together identify it: an address may change owners. */
export interface SignInProfile {
  /** The provider. */
  readonly issuer: string;
  /** The user, unique at the provider. */
  readonly id: string;
  /** Address of the user; see `emailVerified`. */
  readonly email: string | undefined;
  /** Whether the provider verified the address. Never link an account without that. */
  readonly emailVerified: boolean;
  readonly name: string | undefined;
  /** An `https` URL. */
  readonly picture: string | undefined;
}

/** Sources of a profile. */
export interface ProfileSources {
  /** Claims of the ID token, and of userinfo if it has no `email`; empty without OIDC. */
  readonly claims: JsonRecord;
  /** Responses of `resources`, by name; `undefined` for one the token may not read (403, 404). */
  readonly resources: JsonRecord;
  /** Parameters of the callback; only the browser vouches for them. */
  readonly parameters: URLSearchParams;
}

/** Result of `readProfile`; values of another type than text are left out. */
export type ProfileFields = Readonly<Record<"id" | "email" | "name" | "picture", unknown>> & {
  readonly emailVerified: boolean;
};

/** A provider as data; `{ ...providers.gitlab, issuer }` is another of its kind. */
export interface ProviderPreset {
  /** Identifier of the provider; its metadata is fetched from there. */
  readonly issuer: string;
  /** The issuer that the metadata must name. Default: `issuer`. */
  readonly expectedIssuer?: string | undefined;
  /** Metadata of a provider that publishes none. */
  readonly metadata?: Partial<ServerMetadata> | undefined;
  /** Parameters of the authorization request: `scope` and others. */
  readonly params: GrantParams;
  /** JSON resources to fetch with the token, by name. Default: none. */
  readonly resources?: Readonly<Record<string, string>> | undefined;
  /** Reads the profile. Must not trust an address that the provider does not state as verified. */
  readonly readProfile: (sources: ProfileSources) => ProfileFields;
}

/** Options of {@link signInProvider}: those of an `OidcClient`, and the credentials. */
export interface ProviderOptions extends OidcClientOptions {
  readonly clientId: string;
  /** Default: none; then the client is public, or `clientKey` or `authScheme` is its proof. */
  readonly clientSecret?: string | undefined;
  /** URL of the callback, as registered at the provider. */
  readonly redirectUri: string;
}

/** A provider that `signIn` signs users in with. */
export interface SignInProvider {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly params: GrantParams;
  /** Returns the client. Metadata is fetched once; after a failure, again with the next call. */
  readonly connect: () => Promise<OidcClient>;
  /**
   * Fetches and reads the profile of the user that a token is of.
   *
   * @throws OAuth2Error
   */
  readonly readProfile: (token: AccessToken, parameters: URLSearchParams) => Promise<SignInProfile>;
}

/**
 * Makes a provider of a preset and credentials. Nothing is sent yet.
 *
 * @example
 * ```ts
 * const provider = signInProvider(providers.google, { clientId, clientSecret, redirectUri });
 * ```
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION`; MetadataError
 */
export function signInProvider(preset: ProviderPreset, options: ProviderOptions): SignInProvider {
  const { clientId, clientSecret, ...given } = options;
  const { issuer, expectedIssuer, metadata } = preset;
  const settings: OidcClientOptions = { connectionOpts: { timeout: 10_000 }, ...given };
  // Made in any case: wrong options are an error here, not with the first user.
  const fixed = new OidcClient({ ...metadata, issuer }, clientId, clientSecret, settings);
  if (metadata !== undefined) return createProvider(preset, fixed);
  const discovery = { ...settings, expectedIssuer };
  let connected: Promise<OidcClient> | undefined;
  return createProvider(preset, fixed, () => {
    if (connected !== undefined) return connected;
    connected = OidcClient.discover(issuer, clientId, clientSecret, discovery);
    connected.catch(() => (connected = undefined));
    return connected;
  });
}

/** Makes a provider of a client, with the claims that are standard in OpenID Connect. */
export function providerOf(client: OidcClient): SignInProvider {
  return createProvider(openIdConnect(client.metadata.issuer), client);
}

/** Makes the preset of an OpenID Connect provider, such as Keycloak, Auth0 or Okta. */
export function openIdConnect(issuer: string): ProviderPreset {
  return { issuer, params: { scope: "openid email profile" }, readProfile: readStandardClaims };
}

/** Reads the standard claims (OpenID Connect Core, 5.1). */
export function readStandardClaims({ claims }: ProfileSources): ProfileFields {
  const { sub, email, email_verified, name, picture } = claims;
  return { id: sub, email, emailVerified: email_verified === true, name, picture };
}

function createProvider(
  { params, resources = {}, readProfile }: ProviderPreset,
  client: OidcClient,
  connect: () => Promise<OidcClient> = () => Promise.resolve(client),
): SignInProvider {
  return {
    clientId: client.id ?? "",
    redirectUri: client.redirectUri ?? "",
    params,
    connect,
    async readProfile(token, parameters) {
      const connected = await connect();
      const claims = await readClaims(connected, token);
      const fetched: Record<string, unknown> = {};
      for (const [name, url] of Object.entries(resources))
        fetched[name] = await readResource(token, url);
      const fields = readProfile({ claims, resources: fetched, parameters });
      return checkProfile(fields, connected.claims(token)?.iss ?? connected.metadata.issuer);
    },
  };
}

async function readClaims(client: OidcClient, token: AccessToken): Promise<JsonRecord> {
  const claims = client.claims(token);
  if (claims === undefined) return {};
  const { userinfo_endpoint: endpoint } = client.metadata;
  if (claims["email"] !== undefined || endpoint === undefined) return claims;
  // Claims of the ID token about an address do not count for the address of another response.
  const others = { ...claims, email_verified: undefined, xms_edov: undefined };
  return { ...others, ...(await client.userInfo(token)) };
}

async function readResource(token: AccessToken, url: string): Promise<unknown> {
  // The API of GitHub refuses requests without a user agent, which not every runtime sends.
  const headers = { accept: "application/json", "user-agent": "fetchwork" };
  try {
    return (await token.get(url, { headers, snaky: false })).parsed;
  } catch (error) {
    if (error instanceof OAuth2Error && (error.status === 403 || error.status === 404))
      return undefined;
    throw error;
  }
}

function checkProfile(fields: ProfileFields, issuer: string): SignInProfile {
  const id = textOf(fields.id, 255);
  if (id === undefined) throw new InvalidResponseError("the provider does not name the user");
  const email = textOf(fields.email, 320);
  const picture = textOf(fields.picture, 2048);
  const isHttps = picture !== undefined && /^https:\/\//i.test(picture) && URL.canParse(picture);
  return {
    issuer,
    id,
    email,
    emailVerified: email !== undefined && fields.emailVerified,
    name: textOf(fields.name, 500),
    // A `javascript:` URL would run in the page that shows it as a link.
    picture: isHttps ? picture : undefined,
  };
}

function textOf(value: unknown, maxLength: number): string | undefined {
  const isText = typeof value === "string" && value !== "" && value.length <= maxLength;
  return isText ? value : undefined;
}
