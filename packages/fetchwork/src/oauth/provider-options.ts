import { nodeTransport } from "@fetchwork/oauth2/node";
import { OidcClient } from "@fetchwork/oauth2/oidc";
import type { CommandIo } from "../command/command-io.ts";
import type { OptionValues } from "../command/command.ts";
import { readSecret } from "../command/read-secret.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import type { Profile } from "./profile.ts";
import { safeUrl } from "./safe-url.ts";

/** Options that name a provider and a client of it. */
export const providerOptions = {
  issuer: {
    type: "string",
    hint: "url",
    description: "URL of the provider, whose metadata lists its endpoints (discovery)",
  },
  discovery: {
    type: "string",
    hint: "kind",
    default: "oidc",
    description: "Kind of metadata: oidc, or oauth2 (RFC 8414)",
  },
  "client-id": { type: "string", hint: "id", description: "Client identifier" },
  "client-secret-file": {
    type: "string",
    hint: "file",
    description: "File that contains the client secret (default: FETCHWORK_OAUTH_CLIENT_SECRET)",
  },
  resource: {
    type: "string",
    hint: "url",
    multiple: true,
    description: "Resource that the token is for (RFC 8707); may be repeated",
  },
} as const;

/**
 * Finds out about the provider, and puts a profile together.
 *
 * @throws CommandUsageError; MetadataError, ConnectionError when the provider cannot be asked
 */
export async function profileOf(
  values: OptionValues<typeof providerOptions>,
  io: CommandIo,
  signal: AbortSignal,
): Promise<Profile> {
  const { "client-id": clientId = "", issuer, discovery, resource } = values;
  const missing = [clientId === "" && "--client-id", issuer === undefined && "--issuer"];
  const names = missing.filter((name) => name !== false);
  if (issuer === undefined || names.length > 0) {
    throw new CommandUsageError(
      `${names.join(" and ")} ${names.length > 1 ? "are" : "is"} missing`,
    );
  }
  const isWrong = resource?.some((one) => !URL.canParse(one) || one.includes("#"));
  if (isWrong === true) throw new CommandUsageError("--resource must be a URL without a fragment");
  if (discovery !== "oidc" && discovery !== "oauth2") {
    throw new CommandUsageError("--discovery must be oidc or oauth2");
  }
  safeUrl("--issuer", issuer);
  const file = values["client-secret-file"];
  const clientSecret = await readSecret(file, "FETCHWORK_OAUTH_CLIENT_SECRET", io);
  const connectionOpts = { timeout: 30_000 };
  const options = { discovery, signal, connectionOpts, fetch: nodeTransport() } as const;
  const { metadata } = await OidcClient.discover(issuer, clientId, null, options);
  return { clientId, clientSecret, metadata, resource };
}
