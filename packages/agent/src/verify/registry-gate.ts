import { chmodSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { once } from "node:events";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";

/** A way to one registry, and to nothing else. */
export interface RegistryGate {
  close(): Promise<void>;
}

/** Maximum bytes that go through a gate. */
const maxBytes = 1024 ** 3;

/**
 * Listens on a Unix socket and fetches from a registry what is asked for there: GET requests for
 * paths below the registry's own, without any header of the caller but `accept`.
 */
export async function openRegistryGate(registry: string, socket: string): Promise<RegistryGate> {
  const state = { left: maxBytes };
  const server = createServer((request, response) => {
    pass(registry, request, response, state).catch(() => response.destroy());
  });
  server.listen(socket);
  await once(server, "listening");
  // The user of the sandbox is another one.
  chmodSync(socket, 0o666);
  return { close: () => closed(server) };
}

async function pass(
  registry: string,
  { method, url = "", headers }: IncomingMessage,
  response: ServerResponse,
  state: { left: number },
): Promise<void> {
  const target = targetOf(registry, url);
  if (method !== "GET" || target === undefined) {
    response.writeHead(method === "GET" ? 400 : 405).end();
    return;
  }
  const stopped = new AbortController();
  response.once("close", () => stopped.abort());
  const { accept = "*/*" } = headers;
  const found = await fetch(target, { headers: { accept }, signal: stopped.signal });
  const type = found.headers.get("content-type") ?? "application/octet-stream";
  response.writeHead(found.status, { "content-type": type });
  if (found.body === null) {
    response.end();
    return;
  }
  await pipeline(
    Readable.fromWeb(found.body as ReadableStream<Uint8Array>),
    async function* (chunks: AsyncIterable<Uint8Array>) {
      for await (const chunk of chunks) {
        state.left -= chunk.byteLength;
        if (state.left < 0) throw new Error("the packages are too large");
        yield chunk;
      }
    },
    response,
  );
}

/** The URL that is asked for, by its path; `undefined` for one that is not below the registry's. */
export function targetOf(registry: string, path: string): string | undefined {
  const base = new URL(registry.endsWith("/") ? registry : `${registry}/`);
  // `//host` and `http://host` name other servers.
  if (!/^\/(?![/\\])/.test(path)) return undefined;
  // Some servers decode `..%2f`, or leave out what follows `;`, before they resolve a path.
  if (/(?:^|[/\\]|%2f|%5c)(?:\.|%2e){2}(?:[/\\;?#]|%2f|%5c|%3b|$)/i.test(path)) return undefined;
  const target = URL.parse(path, base);
  return target?.href.startsWith(base.href) === true ? target.href : undefined;
}

async function closed(server: Server): Promise<void> {
  const end = once(server, "close");
  server.close();
  server.closeAllConnections();
  await end;
}
