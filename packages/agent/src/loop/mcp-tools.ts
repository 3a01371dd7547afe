import type { CallToolResult, ListToolsResult, MCPClient } from "@ai-sdk/mcp";
import { isObject } from "@fetchwork/kit";
import { AgentError, cancelled } from "../errors.ts";
import { ToolRefusal } from "./changed-files.ts";
import { cutOutput } from "./cut-output.ts";
import type { LoopTool, LoopTools } from "./loop-tool.ts";
import type { McpServer } from "./mcp-server.ts";
import { maxMessageBytes, startProgram, type StdioTransport } from "./stdio-transport.ts";

/** Tools of all servers; characters of a description, and of a schema as JSON. */
const max = { tools: 40, description: 1_000, schema: 4_000 };

/** Milliseconds in which a server must start and list its tools, and do a call. */
type McpTimes = Readonly<Record<"start" | "call", number>>;

const defaultTimes: McpTimes = { start: 10_000, call: 60_000 };

/**
 * Starts servers, uses their tools, and closes them whatever comes of it.
 *
 * @throws AgentError `ERR_AGENT_MCP` as a rejection, with the name of a server that does not start,
 * is silent or ends
 */
export async function withMcpTools<T>(
  servers: readonly McpServer[] = [],
  signal: AbortSignal,
  use: (tools: LoopTools) => Promise<T>,
  times: McpTimes = defaultTimes,
): Promise<T> {
  if (servers.length === 0) return use({});
  const open: Closable[] = [];
  try {
    const found = await Promise.allSettled(
      servers.map((server) => toolsOf(server, within(server, signal), { times, open })),
    );
    const lists = found.map((one) => {
      if (one.status === "rejected") throw one.reason;
      return [...one.value].map(([name, tool], index) => ({ name, tool, index }));
    });
    // The first tools of each server, so that one with many does not hide those of others.
    const tools = lists.flat().toSorted((one, other) => one.index - other.index);
    const entries = tools.slice(0, max.tools).map(({ name, tool }) => [name, tool] as const);
    return await use(Object.fromEntries(entries));
  } finally {
    await Promise.allSettled(open.map((one) => one.close()));
  }
}

interface Closable {
  close(): Promise<void>;
}

/** Starts a server. */
async function toolsOf(
  server: McpServer,
  inTime: InTime,
  { times, open }: { readonly times: McpTimes; readonly open: Closable[] },
): Promise<ReadonlyMap<string, LoopTool>> {
  const [sdk, { jsonSchema }] = await Promise.all([import("@ai-sdk/mcp"), import("ai")]);
  let program: StdioTransport | undefined;
  const call = async (
    client: MCPClient,
    name: string,
    input: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<string> => {
    const result = await client
      .callTool({ name, arguments: input, options: { signal } })
      .catch((error: unknown) => {
        if (!sdk.MCPClientError.isInstance(error) || error.code === undefined) throw error;
        throw new ToolRefusal(cleanOutput(error.message));
      });
    if (result["isError"] === true) throw new ToolRefusal(cleanOutput(textOf(result)));
    return cleanOutput(textOf(result));
  };
  const ended = (): string | undefined => program?.ended;
  return inTime(ended, times.start, async (signal) => {
    if ("command" in server) program = startProgram(server, sdk.validateJSONRPCMessage);
    if (program) open.push(program);
    const client = await sdk.createMCPClient({
      clientName: "fetchwork",
      transport: program ?? httpTransport(server),
      initializationOptions: { signal },
    });
    open.push(client);
    const tools = new Map<string, LoopTool>();
    let page: ListToolsResult | undefined;
    do {
      const params = page?.nextCursor === undefined ? {} : { cursor: page.nextCursor };
      page = await client.listTools({ params, options: { signal } });
      for (const { name, description = "", inputSchema } of page.tools) {
        if (tools.size === max.tools) break;
        const schema = { properties: {}, ...inputSchema, type: "object" as const };
        const isShown = JSON.stringify(schema).length <= max.schema;
        const note = isShown ? "" : " (The schema of its arguments is too long to be shown.)";
        const offered = `${server.name}__${name.replace(/[^\w-]/g, "_")}`.slice(0, 64);
        // The first of two that are cut to one name is offered.
        if (tools.has(offered)) continue;
        tools.set(offered, {
          mayDiffer: true,
          description: withoutControls(description.slice(0, max.description)) + note,
          input: jsonSchema(isShown ? schema : { type: "object", properties: {} }),
          about: (input) => (JSON.stringify(input) ?? "").slice(0, 200),
          execute: (input) => {
            if (!isObject(input)) throw new ToolRefusal("the arguments must be an object");
            return inTime(ended, times.call, (late) => call(client, name, input, late));
          },
        });
      }
    } while (page.nextCursor !== undefined && tools.size < max.tools);
    return tools;
  });
}

type InTime = ReturnType<typeof within>;

/** Runs work within a time. The failure omits what a server says, which may hold secrets. */
function within(server: McpServer, stop: AbortSignal) {
  return async <T>(
    ended: () => string | undefined,
    time: number,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    const late = AbortSignal.timeout(time);
    try {
      return await work(AbortSignal.any([stop, late]));
    } catch (error) {
      if (error instanceof ToolRefusal) throw error;
      if (stop.aborted) throw cancelled(stop);
      const why = late.aborted ? `was silent for ${time / 1_000} s` : ended();
      const what = why ?? failureOf(error, "command" in server ? "started" : "reached");
      throw new AgentError("ERR_AGENT_MCP", `the MCP server ${server.name} ${what}`);
    }
  };
}

function failureOf(error: unknown, done: string): string {
  const { statusCode, code, cause } = isObject(error) ? error : {};
  if (typeof statusCode === "number") return `responded with the status ${statusCode}`;
  // The name of an error of the system, such as ENOENT.
  const reason = typeof code === "string" ? code : isObject(cause) && cause["code"];
  return typeof reason === "string" && /^[A-Z][A-Z0-9_]+$/.test(reason)
    ? `cannot be ${done} (${reason})`
    : "responded with what the protocol does not allow";
}

function httpTransport(server: McpServer) {
  const { url, headers = {} } = server as Extract<McpServer, { readonly url: unknown }>;
  return { type: "http" as const, url, headers: { ...headers }, fetch: boundedFetch };
}

/** Bounds responses and the end of a session. Messages that nobody asked for (GET) are ignored. */
const boundedFetch: typeof fetch = async (input, init) => {
  if (init?.method === "GET") return new Response(null, { status: 405 });
  const signal = init?.method === "DELETE" ? AbortSignal.timeout(1_000) : init?.signal;
  const response = await fetch(input, { ...init, ...(signal && { signal }) });
  let size = 0;
  const bound = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      size += chunk.byteLength;
      if (size > maxMessageBytes) controller.error(new Error("the response is too long"));
      else controller.enqueue(chunk);
    },
  });
  return new Response(response.body?.pipeThrough(bound) ?? null, response);
};

/** Texts of a result; of anything else the kind. */
function textOf({ content, structuredContent, toolResult }: CallToolResult): string {
  if (!Array.isArray(content) || content.length === 0) {
    return JSON.stringify(structuredContent ?? toolResult) ?? "It returned nothing.";
  }
  const parts = content.map((part: unknown) => {
    const { type, text, resource, mimeType } = isObject(part) ? part : {};
    const shown = text ?? (isObject(resource) ? resource["text"] : undefined);
    return typeof shown === "string" ? shown : `(${[type, mimeType].join(" ").trim()}, not shown)`;
  });
  return parts.join("\n");
}

function cleanOutput(text: string): string {
  return withoutControls(cutOutput(text));
}

/** Without what a terminal obeys. */
function withoutControls(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(/(?![\n\t])\p{Cc}/gu, "\u{FFFD}");
}
