import { spawn } from "node:child_process";
import type { JSONRPCMessage, MCPTransport } from "@ai-sdk/mcp";
import { ByteCollector } from "@fetchwork/kit";
import type { McpServer } from "./mcp-server.ts";
import { endProgram } from "../verify/end-program.ts";

/** Bytes of a message. */
export const maxMessageBytes: number = 32 * 1024 * 1024;

/** Milliseconds in which a server must end after its input. */
const grace = 1_000;

/** A transport that knows why nothing more comes from its program. */
export type StdioTransport = MCPTransport & { ended?: string };

/**
 * Starts a program, and speaks with it by lines of JSON on its standard input and output. Unlike
 * the transport of the SDK it bounds what it reads, and ends the children of the program too. It
 * hands over only PATH and HOME of our environment.
 */
export function startProgram(
  { command: [file = "", ...args], env }: Extract<McpServer, { readonly command: unknown }>,
  parse: (value: unknown) => JSONRPCMessage,
): StdioTransport {
  // oxlint-disable-next-line node/no-process-env -- of all of it only where programs are
  const { PATH = "", HOME = "" } = process.env;
  const child = spawn(file, args, {
    // A separate process group, so that its children end with it.
    detached: true,
    stdio: ["pipe", "pipe", "ignore"],
    env: { PATH, HOME, ...env },
  });
  const kill = (): void => endProgram(child.pid);
  process.on("exit", kill);
  const started = new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve).once("error", reject);
  });
  // A run that was stopped before does not wait for it.
  started.catch(() => undefined);
  const exited = new Promise<void>((resolve) => {
    child.once("error", () => resolve());
    child.once("exit", (code, signal) => {
      transport.ended ??= `ended (${code ?? signal})`;
      kill();
      resolve();
    });
  });
  const transport: StdioTransport = {
    start: () => started,
    send(message) {
      child.stdin.write(`${JSON.stringify(message)}\n`);
      return Promise.resolve();
    },
    async close() {
      child.stdin.end();
      const timer = setTimeout(kill, grace);
      await exited;
      clearTimeout(timer);
      process.off("exit", kill);
      // A child that has left the group may hold it.
      child.stdout.destroy();
    },
  };
  let line = new ByteCollector();
  // That it reads no more is known from its end.
  child.stdin.on("error", () => undefined);
  child.once("close", () => transport.onclose?.());
  child.stdout.on("data", (chunk: Buffer) => {
    let start = 0;
    for (let end; (end = chunk.indexOf(10, start)) !== -1; start = end + 1) {
      line.add(chunk.subarray(start, end));
      const bytes = line.join();
      line = new ByteCollector();
      try {
        transport.onmessage?.(parse(JSON.parse(new TextDecoder().decode(bytes))));
      } catch {
        // Some programs print other text than messages.
      }
    }
    line.add(chunk.subarray(start));
    if (line.size <= maxMessageBytes) return;
    transport.ended = "sent a message that is too long";
    line = new ByteCollector();
    kill();
  });
  return transport;
}
