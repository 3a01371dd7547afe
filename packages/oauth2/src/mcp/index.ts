export {
  mcpAuthorization,
  type McpAuthorization,
  type McpAuthorizationOptions,
} from "./mcp-authorization.ts";
export type {
  McpClientInformation,
  McpClientMetadata,
  McpOAuthProvider,
  McpTokens,
} from "./mcp-provider.ts";
