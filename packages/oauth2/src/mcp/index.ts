export { mcpAuthorization, type McpAuthorization } from "./mcp-authorization.ts";
export type {
  McpAuthorizationOptions,
  McpClientInformation,
  McpClientMetadata,
} from "./mcp-options.ts";
export type { McpOAuthProvider, McpTokens } from "./mcp-provider.ts";
