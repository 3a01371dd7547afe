import {
  auth,
  Client,
  StreamableHTTPClientTransport,
  type OAuthClientProvider,
  type StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { mcpAuthorization, type McpAuthorization } from "../../src/mcp/index.ts";
import type { TokenStore } from "../../src/index.ts";
import { signInAt } from "./mcp-servers.ts";

/** What a transport of the official client is given. */
export interface Authorization {
  readonly authProvider: OAuthClientProvider;
  readonly fetch?: typeof fetch;
}

/** An authorization whose user never sees a browser: `redirects` has the URLs. */
export function authorizationOf(
  store: TokenStore,
  redirects: URL[] = [],
): McpAuthorization & { readonly redirects: URL[] } {
  const authorization = mcpAuthorization({
    store,
    redirectUrl: "http://localhost:3000/callback",
    redirect: (url) => void redirects.push(url),
  });
  return { ...authorization, redirects };
}

/** Signs in through the flow of the official client. */
export async function signIn(
  serverUrl: URL,
  given: TokenStore | ReturnType<typeof authorizationOf>,
): Promise<void> {
  const authorization = "authProvider" in given ? given : authorizationOf(given);
  const { authProvider, fetch: fetchFn, redirects } = authorization;
  await auth(authProvider, { serverUrl, fetchFn });
  const [url] = redirects;
  if (url === undefined) throw new Error("the client did not redirect");
  const callback = await signInAt(url);
  const authorizationCode = callback.get("code") ?? "";
  await auth(authProvider, { serverUrl, fetchFn, authorizationCode });
}

/** Makes one call of the tool with a client of the SDK. */
export async function call(url: URL, authorization: Authorization): Promise<unknown> {
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(url, authorization));
  try {
    return await client.callTool({ name: "ping" });
  } finally {
    await client.close();
  }
}

/** Makes calls at once, and returns how many were answered. */
export async function callAtOnce(
  url: URL,
  authorization: Authorization,
  count: number,
): Promise<number> {
  const calls = Array.from({ length: count }, () => call(url, authorization));
  const results = await Promise.allSettled(calls);
  return results.filter(({ status }) => status === "fulfilled").length;
}

/**
 * A provider as the SDK's examples have it: in memory or in a store, with the refresh token in the
 * client's hands.
 */
export function naiveProvider(store: TokenStore): OAuthClientProvider {
  return {
    redirectUrl: "http://localhost:3000/callback",
    clientMetadata: { redirect_uris: ["http://localhost:3000/callback"] },
    clientInformation: () => ({ client_id: "c1" }),
    tokens: async () => (await store.get("mcp")) as StoredOAuthTokens | undefined,
    saveTokens: async (tokens) => store.set("mcp", { ...tokens }),
    redirectToAuthorization: () => {},
    saveCodeVerifier: () => {},
    codeVerifier: () => "",
  };
}
