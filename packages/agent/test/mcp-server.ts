import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: {
    readonly name?: string;
    readonly arguments?: Record<string, unknown>;
    readonly cursor?: string;
  };
}

const tool = (name: string, inputSchema: object = { type: "object" }) => ({
  name,
  description: `Does ${name}.\u001B[2J`,
  inputSchema,
});

/** What a server of a mode has as its tools. */
function toolsOf(mode: string): readonly object[] {
  if (mode === "many") return Array.from({ length: 1_000 }, (_, at) => tool(`tool${at}`));
  if (mode === "schema") {
    return [tool("huge", { type: "object", properties: { a: { const: "x".repeat(1_048_576) } } })];
  }
  return ["read", "env", "fail", "refuse", "long", "escapes", "picture", "exit", "wait", "a/b"].map(
    (name) => tool(name),
  );
}

function call(name: string | undefined, given: Record<string, unknown> = {}): object {
  const text = (said: string) => ({ content: [{ type: "text", text: said }] });
  switch (name) {
    case "env":
      return text(JSON.stringify(process.env));
    case "fail":
      return { ...text("it is not there"), isError: true };
    case "long":
      return text("0123456789".repeat(1_048_576));
    case "escapes":
      return text("red: \u001B[31m\u0007\r\nend");
    case "picture":
      return { content: [{ type: "image", data: "aGk=", mimeType: "image/png" }] };
    default:
      return text(`${name} of the server: ${JSON.stringify(given)}`);
  }
}

/** The response to a message; undefined: none. */
export function respond(mode: string, { id, method, params = {} }: Message): object | undefined {
  if (id === undefined) return undefined;
  const head = { jsonrpc: "2.0", id };
  if (method === "initialize") {
    const serverInfo = { name: "scripted", version: "1" };
    const capabilities = { tools: {} };
    return { ...head, result: { protocolVersion: "2025-06-18", capabilities, serverInfo } };
  }
  if (method === "tools/list") {
    const all = toolsOf(mode);
    if (mode === "endless") return { ...head, result: { tools: [], nextCursor: "again" } };
    if (params.cursor !== undefined) return { ...head, result: { tools: all.slice(2) } };
    return { ...head, result: { tools: all.slice(0, 2), nextCursor: "2" } };
  }
  if (method === "tools/call" && params.name !== "refuse") {
    return { ...head, result: call(params.name, params.arguments) };
  }
  return { ...head, error: { code: -32_602, message: "it is wrong\u001B[2J" } };
}

/** A server by HTTP, and the headers that it was sent. */
export async function startHttpServer(mode: string) {
  const headers: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    headers.push(request.headers.authorization);
    if (mode === "silent") return;
    const status = mode === "broken" ? 500 : mode === "away" ? 302 : 405;
    if (status !== 405 || request.method !== "POST") {
      response.writeHead(status, { location: "/other" }).end("secret");
      return;
    }
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      const answer = respond(mode, JSON.parse(body) as Message);
      if (answer === undefined) return response.writeHead(202).end();
      const isStream = body.includes("tools/call");
      const type = isStream ? "text/event-stream" : "application/json";
      response.writeHead(200, { "content-type": type, "mcp-session-id": "s1" });
      const json = JSON.stringify(answer);
      return response.end(isStream ? `event: message\ndata: ${json}\n\n` : json);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    headers,
    url: `http://127.0.0.1:${port}/mcp`,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}

// `mcp-server.ts <mode> [log]` speaks by standard input and output, and logs its process, its child
// and its calls.
if (import.meta.main) {
  const [, , mode = "", log] = process.argv;
  const note = (what: unknown): void => {
    if (log !== undefined) appendFileSync(log, `${String(what)}\n`);
  };
  note(process.pid);
  if (mode === "exit") process.exit(3);
  if (mode === "endless line") process.stdout.write("x".repeat(40 * 1_048_576));
  if (mode === "stubborn") {
    note(spawn("sleep", ["1000"], { stdio: "ignore" }).pid);
    process.on("SIGTERM", () => undefined);
    setInterval(() => undefined, 1_000);
  }
  process.stdout.write(mode === "garbage" ? "garbage\n{}\n" : "Welcome!\n");
  createInterface(process.stdin).on("line", (line) => {
    if (mode === "silent" || mode === "garbage" || mode === "endless line") return;
    const message = JSON.parse(line) as Message;
    const { name } = message.params ?? {};
    if (message.method === "tools/call") note(name);
    if (message.method === "tools/call" && name === "exit") process.exit(4);
    if (message.method === "tools/call" && name === "wait") return;
    const answer = respond(mode, message);
    if (answer !== undefined) process.stdout.write(`${JSON.stringify(answer)}\n`);
  });
}
