export { mcpAuthorization, type McpAuthorization } from "./mcp-authorization.ts";
export type { McpAuthorizationOptions } from "./mcp-provider.ts";
