import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { nodeTransport } from "@fetchwork/oauth2/node";
import { OidcClient, type ServerMetadata } from "@fetchwork/oauth2/oidc";
import type { CommandIo } from "../command-io.ts";
import type { OptionValues } from "../command.ts";
import { UsageError } from "../usage-error.ts";
import type { ClientAuthentication, Profile } from "./profile.ts";
import { safeUrl } from "./safe-url.ts";

/** The variable that holds a secret which must not stand on a command line. */
const secretVariable = "FETCHWORK_OAUTH_CLIENT_SECRET";

/** Options that name a provider and a client of it. */
export const providerOptions = {
  issuer: {
    type: "string",
    hint: "url",
    description: "Provider, which tells its endpoints (discovery)",
  },
  discovery: {
    type: "string",
    hint: "kind",
    default: "oidc",
    description: "Where it tells them: oidc, or oauth2 (RFC 8414)",
  },
  "authorize-url": {
    type: "string",
    hint: "url",
    description: "Authorization endpoint, without --issuer",
  },
  "token-url": { type: "string", hint: "url", description: "Token endpoint, without --issuer" },
  "device-url": { type: "string", hint: "url", description: "Device endpoint, without --issuer" },
  "revoke-url": {
    type: "string",
    hint: "url",
    description: "Revocation endpoint, without --issuer",
  },
  "client-id": { type: "string", hint: "id", description: "Identifier of the client" },
  "client-secret": {
    type: "string",
    hint: "secret",
    description:
      "Secret; others on this machine can see it, FETCHWORK_OAUTH_CLIENT_SECRET or a file cannot be seen",
  },
  "client-secret-file": { type: "string", hint: "file", description: "File with the secret" },
  "client-auth": {
    type: "string",
    hint: "kind",
    description: "Where the secret stands: basic, or post (default: what the provider says)",
  },
  resource: {
    type: "string",
    hint: "url",
    multiple: true,
    description: "Resource that the token is for (RFC 8707); may repeat",
  },
} as const;

/** Values of {@link providerOptions}. */
export type ProviderValues = OptionValues<typeof providerOptions>;

/**
 * Finds out about the provider, and puts a profile together.
 *
 * @throws UsageError; MetadataError, ConnectionError when the provider cannot be asked
 */
export async function profileOf(
  values: ProviderValues,
  io: CommandIo,
  signal: AbortSignal,
): Promise<Profile> {
  const clientId = values["client-id"] ?? "";
  if (clientId === "") throw new UsageError("--client-id is missing");
  const clientSecret = await secretOf(values, io);
  const clientAuthentication = authenticationOf(values["client-auth"]);
  for (const resource of values.resource ?? []) {
    if (!URL.canParse(resource)) throw new UsageError("--resource must be a URL");
  }
  const { issuer, resource } = values;
  const metadata =
    issuer === undefined
      ? metadataOf(values)
      : await discovered(issuer, values, { clientId, signal });
  const isDiscovered = issuer !== undefined;
  return { clientId, clientSecret, clientAuthentication, metadata, isDiscovered, resource };
}

async function discovered(
  issuer: string,
  values: ProviderValues,
  { clientId, signal }: { readonly clientId: string; readonly signal: AbortSignal },
): Promise<ServerMetadata> {
  const { discovery } = values;
  const urls = ["authorize-url", "token-url", "device-url", "revoke-url"] as const;
  const given = urls.find((name) => values[name] !== undefined);
  if (given !== undefined) throw new UsageError(`--issuer and --${given} exclude each other`);
  if (discovery !== "oidc" && discovery !== "oauth2") {
    throw new UsageError("--discovery must be oidc or oauth2");
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
  const tokenUrl = url("token-url");
  if (tokenUrl === undefined) throw new UsageError("--issuer is missing, or --token-url");
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
  throw new UsageError("--client-auth must be basic or post");
}

async function secretOf(values: ProviderValues, io: CommandIo): Promise<string | undefined> {
  const { "client-secret": given, "client-secret-file": file } = values;
  if (given !== undefined && file !== undefined) {
    throw new UsageError("--client-secret and --client-secret-file exclude each other");
  }
  if (file === undefined) return given ?? (io.env[secretVariable] || undefined);
  return (await readFile(resolve(io.cwd, file), "utf8")).replace(/\r?\n$/, "");
}
