import { nodeTransport } from "@fetchwork/oauth2/node";
import { OidcClient } from "@fetchwork/oauth2/oidc";
import type { CommandIo } from "../command/command-io.ts";
import type { Profile } from "./profile.ts";
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
