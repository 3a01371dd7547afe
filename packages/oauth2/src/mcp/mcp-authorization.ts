import { checkOptions } from "../check-options.ts";
import type { TokenStore } from "../store/token-store.ts";
import {
  McpOAuthProvider,
  type McpClientInformation,
  type McpClientMetadata,
} from "./mcp-provider.ts";
import { SharedTokens } from "./shared-tokens.ts";

/** Options of {@link mcpAuthorization}. */
export interface McpAuthorizationOptions {
  /** Where tokens and the state of a sign-in are stored. Default: in memory. */
  readonly store?: TokenStore | undefined;
  /** Key in the store, and the start of further keys; one per user and MCP server. Default: `mcp`. */
  readonly key?: string | undefined;
  /** Where the authorization server sends the user back to. */
  readonly redirectUrl: string | URL;
  /** Sends the user to sign in. */
  readonly redirect: (url: URL) => void | Promise<void>;
  /** Further metadata of the client, for its registration. Default: `redirect_uris` and `grant_types`. */
  readonly clientMetadata?: Partial<McpClientMetadata> | undefined;
  /** URL of the metadata document of the client (CIMD), for servers that take one. Default: none. */
  readonly clientMetadataUrl?: string | undefined;
  /** A client that was registered beforehand; the AI SDK wants its `issuer` too. Default: it is registered when needed. */
  readonly client?: McpClientInformation | undefined;
  /** What sends requests. Default: the `fetch` of the platform. */
  readonly fetch?: typeof fetch | undefined;
}

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
