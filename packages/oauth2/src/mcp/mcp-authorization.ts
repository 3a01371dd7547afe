import { checkOptions } from "../check-options.ts";
import type { McpAuthorizationOptions } from "./mcp-options.ts";
import { McpOAuthProvider } from "./mcp-provider.ts";
import { SharedTokens } from "./shared-tokens.ts";

const optionNames: readonly (keyof McpAuthorizationOptions)[] = [
  "store",
  "key",
  "redirectUrl",
  "redirect",
  "clientMetadata",
  "clientMetadataUrl",
  "client",
  "fetch",
];

/** The two options that the transport of an MCP client needs. */
export interface McpAuthorization {
  /** An `OAuthClientProvider` of `@modelcontextprotocol/client` and of `@ai-sdk/mcp`. */
  readonly authProvider: McpOAuthProvider;
  /**
   * A `fetch` that repeats a request whose token the MCP server refused, once, with the token of one shared refresh. It
   * learns from the exchange of the code how a refresh is sent, so `auth()` must be given it too.
   */
  readonly fetch: typeof fetch;
  /** Forgets the tokens, here and in the store. Does not revoke them. */
  signOut(): Promise<void>;
}

/**
 * Makes the authorization of an MCP client whose calls and processes share one refresh. Whenever the client asks for a
 * token it gets one that is good, and never a refresh token: only a `TokenManager` refreshes, under the lock of the store.
 * The first sign-in is that of the client; what it stores is in the same store.
 *
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION`
 */
export function mcpAuthorization(options: McpAuthorizationOptions): McpAuthorization {
  checkOptions("mcpAuthorization", options, optionNames);
  const tokens = new SharedTokens(options);
  const authProvider = new McpOAuthProvider(options, tokens);
  return { authProvider, fetch: tokens.fetch, signOut: () => tokens.clear() };
}
