import { z } from "zod";
import { AgentUsageError } from "../errors.ts";

/** An MCP server: a program that uses stdio, or an address that uses Streamable HTTP. */
export type McpServer =
  | {
      /** Begins the names of its tools: letters, digits and `-`, at most 32. */
      readonly name: string;
      /** The program and its arguments. No shell reads them. */
      readonly command: readonly string[];
      /** Its environment, in addition to PATH and HOME. Default: nothing more. */
      readonly env?: Readonly<Record<string, string>> | undefined;
    }
  | {
      /** Begins the names of its tools: letters, digits and `-`, at most 32. */
      readonly name: string;
      /** Begins with `https:` or `http:`. Redirects are not followed. */
      readonly url: string;
      /** Headers of each request, such as `authorization`. Default: none. */
      readonly headers?: Readonly<Record<string, string>> | undefined;
    };

const name = z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/i);
const text = z.string().regex(/^[^\0]*$/);
const url = z
  .url({ protocol: /^https?$/ })
  .refine((one) => URL.parse(one)?.username === "" && URL.parse(one)?.password === "");
const headerName = z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/);
const headerValue = z.string().regex(/^[\t\x20-\x7E\x80-\xFF]*$/);
const server = z.union([
  z.strictObject({
    name,
    command: z.tuple([text.min(1)], text),
    env: z.record(text, text).optional(),
  }),
  z.strictObject({ name, url, headers: z.record(headerName, headerValue).optional() }),
]);

/**
 * Checks servers as they were given.
 *
 * @throws AgentUsageError `ERR_AGENT_OPTION`, with nothing of what was given: it may be secret
 */
export function checkMcpServers(servers: readonly McpServer[] = []): void {
  const { error, data = [] } = z.array(server).safeParse(servers);
  const at = error?.issues[0]?.path[0];
  const which = typeof at === "number" ? `server ${at + 1} is not` : "it is not";
  const isTwice = new Set(data.map((one) => one.name)).size < data.length;
  if (error === undefined && !isTwice) return;
  throw new AgentUsageError(
    "ERR_AGENT_OPTION",
    `mcp must have servers { name, command, env } or { name, url, headers }: ${isTwice ? "two have the same name" : which}`,
  );
}
