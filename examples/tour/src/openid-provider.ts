import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider, type KoaContextWithOIDC } from "oidc-provider";
import { createProviderMemory } from "./provider-memory.ts";

/** The OpenID provider of the tour: anyone who comes is Ada, and agrees. */
export interface OpenIdProvider {
  readonly issuer: string;
  close(): Promise<void>;
}

/** Where browsers go back to, by client. */
export interface OpenIdProviderOptions {
  readonly clients: readonly {
    readonly id: string;
    readonly redirectUri: string;
    /** Absent for a public client. */
    readonly secret?: string | undefined;
  }[];
}

/** Who is signed in at the provider. */
export const ada = { sub: "ada", email: "ada@example.com", email_verified: true, name: "Ada L." };

/**
 * Starts `oidc-provider`, which is not ours. It demands PKCE and signs access tokens for the
 * audience asked for.
 */
export async function startOpenIdProvider({
  clients,
}: OpenIdProviderOptions): Promise<OpenIdProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A server that listens on a port has an address with one.
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const provider = new Provider(issuer, {
    adapter: createProviderMemory(),
    ttl: { AccessToken: 60, Grant: 60, IdToken: 60, Interaction: 60, Session: 60 },
    clients: clients.map(({ id, redirectUri, secret }) => ({
      client_id: id,
      redirect_uris: [redirectUri],
      ...(secret === undefined
        ? { token_endpoint_auth_method: "none" as const }
        : { client_secret: secret }),
    })),
    jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), use: "sig", kid: "tour" }] },
    cookies: { keys: [crypto.randomUUID()] },
    pkce: { required: () => true },
    findAccount: () => ({ accountId: ada.sub, claims: () => ada }),
    claims: { openid: ["sub"], profile: ["name"], email: ["email", "email_verified"] },
    scopes: ["openid", "email", "profile"],
    loadExistingGrant: grantAll,
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context, resource) => ({
          scope: "openid email profile",
          audience: resource,
          accessTokenFormat: "jwt",
        }),
      },
    },
  });
  const handle = provider.callback();
  server.on("request", (request, response) => {
    const isSignIn = request.url?.startsWith("/interaction/") === true;
    const done = isSignIn
      ? provider.interactionFinished(request, response, {
          login: { accountId: ada.sub },
          consent: {},
        })
      : handle(request, response);
    Promise.resolve(done).catch(() => response.destroy());
  });
  return {
    issuer,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function grantAll(context: KoaContextWithOIDC): Promise<InstanceType<Provider["Grant"]>> {
  const { client, session, params, provider } = context.oidc;
  const grant = new provider.Grant({ clientId: client?.clientId, accountId: session?.accountId });
  const { scope, resource } = params ?? {};
  if (typeof scope === "string") {
    grant.addOIDCScope(scope);
    if (typeof resource === "string") grant.addResourceScope(resource, scope);
  }
  await grant.save();
  return grant;
}
