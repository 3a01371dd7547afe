import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { nodeTransport } from "@fetchwork/oauth2/node";
import { OidcClient, type ServerMetadata } from "@fetchwork/oauth2/oidc";
import type { CommandIo } from "../command/command-io.ts";
import type { OptionValues } from "../command/command.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import type { ClientAuthentication, Profile } from "./profile.ts";
import { safeUrl } from "./safe-url.ts";

/** The variable that holds a secret, which must not be on a command line. */
const secretVariable = "FETCHWORK_OAUTH_CLIENT_SECRET";

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
  "authorize-url": {
    type: "string",
    hint: "url",
    description: "Authorization endpoint, if there is no --issuer",
  },
  "token-url": {
    type: "string",
    hint: "url",
    description: "Token endpoint, if there is no --issuer",
  },
  "device-url": {
    type: "string",
    hint: "url",
    description: "Device authorization endpoint, if there is no --issuer",
  },
  "revoke-url": {
    type: "string",
    hint: "url",
    description: "Revocation endpoint, if there is no --issuer",
  },
  "client-id": { type: "string", hint: "id", description: "Client identifier" },
  "client-secret": {
    type: "string",
    hint: "secret",
    description:
      "Client secret; visible to others on this machine, so prefer FETCHWORK_OAUTH_CLIENT_SECRET or a file",
  },
  "client-secret-file": {
    type: "string",
    hint: "file",
    description: "File that contains the secret",
  },
  "client-auth": {
    type: "string",
    hint: "kind",
    description: "How the secret is sent: basic or post (default: from the provider's metadata)",
  },
  resource: {
    type: "string",
    hint: "url",
    multiple: true,
    description: "Resource that the token is for (RFC 8707); may be repeated",
  },
} as const;

/** Values of {@link providerOptions}. */
type ProviderValues = OptionValues<typeof providerOptions> & {
  /** Whether the user signs in on another device. */
  readonly device?: boolean | undefined;
};

/**
 * Finds out about the provider, and puts a profile together.
 *
 * @throws CommandUsageError; MetadataError, ConnectionError when the provider cannot be asked
 */
export async function profileOf(
  values: ProviderValues,
  io: CommandIo,
  signal: AbortSignal,
): Promise<Profile> {
  const clientSecret = await secretOf(values, io);
  const clientAuthentication = authenticationOf(values["client-auth"]);
  for (const resource of values.resource ?? []) {
    if (!URL.canParse(resource)) throw new CommandUsageError("--resource must be a URL");
  }
  const missing = missingOptions(values);
  if (missing.length > 0) {
    const verb = missing.length === 1 ? "is" : "are";
    throw new CommandUsageError(`${missing.join(" and ")} ${verb} missing`);
  }
  const { "client-id": clientId = "", issuer, resource } = values;
  const metadata =
    issuer === undefined
      ? metadataOf(values)
      : await discovered(issuer, values, { clientId, signal });
  const isDiscovered = issuer !== undefined;
  return { clientId, clientSecret, clientAuthentication, metadata, isDiscovered, resource };
}

/** Names what a sign-in needs and the command line lacks. */
function missingOptions(values: ProviderValues): readonly string[] {
  const { device, issuer, "token-url": tokenUrl } = values;
  const missing: string[] = [];
  if ((values["client-id"] ?? "") === "") missing.push("--client-id");
  if (issuer !== undefined) return missing;
  if (tokenUrl === undefined) missing.push("--issuer (or --token-url)");
  else if (device === true && values["device-url"] === undefined) missing.push("--device-url");
  else if (device !== true && values["authorize-url"] === undefined) {
    missing.push("--authorize-url (or --device)");
  }
  return missing;
}

async function discovered(
  issuer: string,
  values: ProviderValues,
  { clientId, signal }: { readonly clientId: string; readonly signal: AbortSignal },
): Promise<ServerMetadata> {
  const { discovery } = values;
  const urls = ["authorize-url", "token-url", "device-url", "revoke-url"] as const;
  const given = urls.find((name) => values[name] !== undefined);
  if (given !== undefined)
    throw new CommandUsageError(`--issuer and --${given} cannot be combined`);
  if (discovery !== "oidc" && discovery !== "oauth2") {
    throw new CommandUsageError("--discovery must be oidc or oauth2");
  }
  safeUrl("--issuer", issuer);
  const connectionOpts = { timeout: 30_000 };
  const client = await OidcClient.discover(issuer, clientId, null, {
    discovery,
    signal,
    connectionOpts,
    fetch: nodeTransport(),
  });
  return client.metadata;
}

function metadataOf(values: ProviderValues): ServerMetadata {
  const url = (
    name: "authorize-url" | "token-url" | "device-url" | "revoke-url",
  ): string | undefined =>
    values[name] === undefined ? undefined : safeUrl(`--${name}`, values[name]).href;
  const tokenUrl = url("token-url") ?? "";
  return {
    // No identifier of a server, but what a person knows it by.
    issuer: new URL(tokenUrl).origin,
    authorization_endpoint: url("authorize-url"),
    token_endpoint: tokenUrl,
    device_authorization_endpoint: url("device-url"),
    revocation_endpoint: url("revoke-url"),
  };
}

function authenticationOf(given: string | undefined): ClientAuthentication | undefined {
  if (given === undefined || given === "basic" || given === "post") return given;
  throw new CommandUsageError("--client-auth must be basic or post");
}

async function secretOf(values: ProviderValues, io: CommandIo): Promise<string | undefined> {
  const { "client-secret": given, "client-secret-file": file } = values;
  if (given !== undefined && file !== undefined) {
    throw new CommandUsageError("--client-secret and --client-secret-file cannot be combined");
  }
  if (file === undefined) return given ?? (io.env[secretVariable] || undefined);
  return (await readFile(resolve(io.cwd, file), "utf8")).replace(/\r?\n$/, "");
}
