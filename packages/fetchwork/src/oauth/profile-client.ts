import {
  AccessToken,
  OAuth2Client,
  TokenManager,
  type Fetch,
  type DebugLogger,
} from "@fetchwork/oauth2";
import { nodeTransport } from "@fetchwork/oauth2/node";
import { OidcClient } from "@fetchwork/oauth2/oidc";
import type { CommandIo } from "../command/command-io.ts";
import type { Profile } from "./profile.ts";
import { ProfileStore, type KeptProfile } from "./profile-store.ts";
import { isSafeUrl } from "./safe-url.ts";

const schemes = { basic: "basic_auth", post: "request_body" } as const;

/**
 * Makes the client of a profile: one of OpenID Connect, or of OAuth alone where nothing was discovered.
 *
 * @param redirectUri - Where the browser comes back to.
 * @throws MetadataError, OAuth2UsageError
 */
export function clientOf(profile: Profile, io: CommandIo, redirectUri?: string): OAuth2Client {
  const { clientId, clientSecret = null, metadata, isDiscovered } = profile;
  const options = { ...connectionOf(profile, io), redirectUri };
  if (isDiscovered)
    return new OidcClient(metadata, clientId, clientSecret, { ...options, defaultScope: "" });
  return new OAuth2Client(clientId, clientSecret, {
    ...options,
    authorizeUrl: metadata.authorization_endpoint,
    tokenUrl: metadata.token_endpoint,
    revokeUrl: metadata.revocation_endpoint,
  });
}

/** Makes the client of a profile for the device flow, which takes its endpoint from the metadata. */
export function deviceClientOf(profile: Profile, io: CommandIo): OidcClient {
  const { clientId, clientSecret = null, metadata } = profile;
  return new OidcClient(metadata, clientId, clientSecret, {
    ...connectionOf(profile, io),
    // What else a client of OAuth alone uses.
    ...(profile.isDiscovered || clientSecret === null ? {} : { authScheme: schemeOf(profile) }),
  });
}

/** A sign-in that was opened. */
interface OpenedProfile extends KeptProfile {
  readonly client: OAuth2Client;
  /** Refreshes its token, coordinated with other processes. */
  readonly manager: TokenManager;
}

/**
 * Opens a sign-in.
 *
 * @throws Error when there is no sign-in of that name
 */
export async function openProfile(name: string, io: CommandIo): Promise<OpenedProfile> {
  const store = new ProfileStore(io);
  const kept = await store.require(name);
  const client = clientOf(kept.profile, io);
  const manager = new TokenManager(client, {
    store: store.tokensOf(kept),
    key: name,
    // The token of an older version does not know them.
    refreshParams: { resource: kept.profile.resource },
  });
  return { ...kept, client, manager };
}

/** The stored token of a sign-in, expired or not. */
export function keptToken({ client, token }: OpenedProfile): AccessToken {
  return AccessToken.fromHash(client, token);
}

interface Connection {
  readonly logger: DebugLogger;
  readonly connectionOpts: { readonly timeout: number };
  readonly allowedOrigins: (url: URL) => boolean;
  readonly fetch: Fetch;
  readonly authScheme?: (typeof schemes)["basic" | "post"];
}

function connectionOf(profile: Profile, { stderr }: CommandIo): Connection {
  const { clientAuthentication, clientSecret } = profile;
  const write = (entry: string): void => stderr.write(`${entry}\n`);
  return {
    // Standard output is for results.
    logger: { debug: write, warn: write },
    connectionOpts: { timeout: 30_000 },
    allowedOrigins: isSafeUrl,
    // Unlike the platform's, it goes through the proxy that the environment names.
    fetch: nodeTransport(),
    ...(clientAuthentication === undefined || clientSecret === undefined
      ? {}
      : { authScheme: schemeOf(profile) }),
  };
}

function schemeOf({ clientAuthentication = "basic" }: Profile): "basic_auth" | "request_body" {
  return schemes[clientAuthentication];
}
