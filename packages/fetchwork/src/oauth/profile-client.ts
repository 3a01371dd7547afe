import { TokenManager } from "@fetchwork/oauth2";
import { nodeTransport } from "@fetchwork/oauth2/node";
import { OidcClient } from "@fetchwork/oauth2/oidc";
import type { CommandIo } from "../command/command-io.ts";
import type { Profile } from "./profile.ts";
import { ProfileStore, type KeptProfile } from "./profile-store.ts";
import { isSafeUrl } from "./safe-url.ts";

/**
 * Makes the client of a profile.
 *
 * @param redirectUri - Where the browser comes back to.
 * @throws MetadataError, OAuth2UsageError
 */
export function clientOf(
  profile: Profile,
  { stderr }: CommandIo,
  redirectUri?: string,
): OidcClient {
  const { clientId, clientSecret = null, metadata } = profile;
  const write = (entry: string): void => stderr.write(`${entry}\n`);
  return new OidcClient(metadata, clientId, clientSecret, {
    redirectUri,
    defaultScope: "",
    // Standard output is for results.
    logger: { debug: write, warn: write },
    connectionOpts: { timeout: 30_000 },
    allowedOrigins: isSafeUrl,
    // Unlike the platform's, it goes through the proxy that the environment names.
    fetch: nodeTransport(),
  });
}

/** A sign-in that was opened. */
interface OpenedProfile extends KeptProfile {
  readonly client: OidcClient;
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
  });
  return { ...kept, client, manager };
}
