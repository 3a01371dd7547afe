import type { TokenStore } from "../store/token-store.ts";

/** Metadata of a client, as it is registered (RFC 7591, 2). */
export interface McpClientMetadata {
  redirect_uris: string[];
  grant_types?: string[];
  response_types?: string[];
  client_name?: string;
  client_uri?: string;
  logo_uri?: string;
  scope?: string;
  token_endpoint_auth_method?: string;
}

/** A registered client. */
export interface McpClientInformation {
  client_id: string;
  client_secret?: string | undefined;
  /** Identifier of the authorization server that knows the client; others do not get its secret. */
  issuer?: string | undefined;
}

/** Options of `mcpAuthorization`. */
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
