import { once } from "node:events";
import { request as httpRequest, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { deriveRequest, type Middleware } from "@fetchwork/http";
import { afterEach } from "vitest";

export const lorem = "Lorem ipsum dolor sit amet, consectetur adipiscing elit. ".repeat(100);
export const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Events of the route `/events`. */
export interface EventSource {
  send: (event: string) => void;
  readonly closed: PromiseWithResolvers<void>;
}

export type MakeServer = (layers: readonly Middleware[], source: EventSource) => Promise<Server>;

export async function listen(server: Server): Promise<Server> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

export interface Client {
  get(
    path: string,
    headers?: Record<string, string>,
    method?: string,
  ): Promise<{
    status: number;
    headers: IncomingMessage["headers"];
    trailers: IncomingMessage["trailers"];
    body: Buffer;
  }>;
  post(path: string, body: string): Promise<{ status: number; text: string }>;
  readonly port: number;
  readonly source: EventSource;
}

export async function start(make: MakeServer, ...layers: readonly Middleware[]): Promise<Client> {
  const source: EventSource = { send: () => undefined, closed: Promise.withResolvers<void>() };
  const server = await make(layers, source);
  closers.push(
    () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(resolve);
      }),
  );
  const { port } = server.address() as AddressInfo;
  return {
    port,
    source,
    get: async (path, fields = {}, method = "GET") => {
      const request = httpRequest({ port, host: "127.0.0.1", path, headers: fields, method }).end();
      const [response] = (await once(request, "response")) as [IncomingMessage];
      const body = Buffer.concat(await Array.fromAsync(response as AsyncIterable<Buffer>));
      const { statusCode: status = 0, headers: received, trailers } = response;
      return { status, headers: received, trailers, body };
    },
    post: async (path, body) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", body });
      return { status: response.status, text: await response.text() };
    },
  };
}

export const readAll: Middleware = (next) => async (request, context) => {
  const body = await request.text();
  return next(deriveRequest(request, { body: body.toUpperCase() }), context);
};
