import { OAuth2ConnectionError, OAuth2Error } from "@fetchwork/oauth2";
import { MetadataError, OidcClient } from "@fetchwork/oauth2/oidc";
import { Problem } from "@fetchwork/rest";
import type { Provider } from "./providers.ts";

/** Gives the client of a provider; what the provider says of itself is fetched once. */
export type ProviderClients = (provider: Provider) => Promise<OidcClient>;

/** Makes {@link ProviderClients}. A provider that could not be asked is asked again the next time. */
export function createProviderClients(publicUrl: string): ProviderClients {
  const clients = new Map<string, Promise<OidcClient>>();
  return (provider) => {
    const { name, issuer, clientId, clientSecret } = provider;
    const known = clients.get(name);
    if (known !== undefined) return known;
    const client = OidcClient.discover(issuer, clientId, clientSecret, {
      redirectUri: `${publicUrl}/auth/${name}/callback`,
      connectionOpts: { timeout: 10_000 },
    });
    clients.set(name, client);
    client.catch(() => clients.delete(name));
    return client;
  };
}

/** Says whose fault it is that something of a provider failed: its own, or that of whoever came with a wrong answer. */
export function providerProblem(name: string, error: unknown): unknown {
  if (!(error instanceof OAuth2Error)) return error;
  const isDown =
    error instanceof OAuth2ConnectionError ||
    error instanceof MetadataError ||
    (error.status ?? 0) >= 500 ||
    // It knows this application no more: nothing that the user can mend.
    error.code === "invalid_client";
  if (isDown) return new Problem(503, { detail: `${name} does not serve now`, cause: error });
  const code = /^[a-z_]{1,40}$/.test(error.code ?? "") ? `: ${error.code}` : "";
  return new Problem(400, { detail: `the sign-in with ${name} failed${code}` });
}
