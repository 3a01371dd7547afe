import { checkOptions } from "../check-options.ts";
import { McpOAuthProvider, type McpAuthorizationOptions } from "./mcp-provider.ts";

/** The two options that the transport of an MCP client needs. */
export interface McpAuthorization {
  /** An `OAuthClientProvider` of `@modelcontextprotocol/client` and of `@ai-sdk/mcp`. */
  readonly authProvider: McpOAuthProvider;
  /**
   * A `fetch` that repeats a request whose token the MCP server refused, once, with the token of
   * one shared refresh. It learns from the exchange of the code how a refresh is sent, so `auth()`
   * must be given it too.
   */
  readonly fetch: typeof fetch;
  /** Forgets the tokens, here and in the store. Does not revoke them. */
  signOut(): Promise<void>;
}

/**
 * Makes the authorization of an MCP client whose calls and processes share one refresh. The client
 * gets good access tokens and no refresh token: only a `TokenManager` refreshes, under the lock of
 * the store. The client signs in itself, and what it stores is in the same store.
 *
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION`
 */
export function mcpAuthorization(options: McpAuthorizationOptions): McpAuthorization {
  checkOptions("mcpAuthorization", options, [
    "store",
    "key",
    "redirectUrl",
    "redirect",
    "clientMetadata",
    "clientMetadataUrl",
    "client",
    "fetch",
  ]);
  const authProvider = new McpOAuthProvider(options);
  return { authProvider, fetch: authProvider.fetch, signOut: () => authProvider.signOut() };
}
