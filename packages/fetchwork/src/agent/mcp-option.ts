import type { McpServer } from "@fetchwork/agent";
import { CommandUsageError } from "../command/usage-error.ts";

/** The option that names MCP servers. */
export const mcpOption = {
  mcp: {
    type: "string",
    hint: "name=server",
    multiple: true,
    description:
      "MCP server whose tools the model may call: name=command or name=https://…; not in the sandbox; may be repeated",
  },
} as const;

/**
 * Reads servers as they were typed: commands are split at blanks outside of quotes, and no shell
 * reads them.
 *
 * @throws CommandUsageError without what was typed, which may be secret
 */
export function mcpServers(values: readonly string[] = []): readonly McpServer[] {
  return values.map((value, index) => {
    const [, name = "", server = ""] = /^([^=\s]+)=\s*(\S.*)$/s.exec(value) ?? [];
    if (/^https?:\/\//i.test(server)) return { name, url: server };
    const words = server.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
    const isQuoted = !/["']/.test(server.replace(/"[^"]*"|'[^']*'/g, ""));
    const command = words.map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, "$1$2"));
    if (isQuoted && command.length > 0) return { name, command };
    throw new CommandUsageError(
      `invalid --mcp (number ${index + 1}): expected name=command, with closed quotes, or name=https://…`,
    );
  });
}
