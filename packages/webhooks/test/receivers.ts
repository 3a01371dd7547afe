import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@fetchwork/http/serve";
import {
  createNodeMiddleware,
  createWebMiddleware,
  type ReceiverOptions,
  type Webhooks,
} from "../src/index.ts";

/** Sends a request to a receiver. */
export type Send = (path: string, init?: RequestInit) => Promise<Response>;

/** A receiver that runs, and how to stop it. */
export interface RunningReceiver {
  readonly send: Send;
  readonly port: number | undefined;
  readonly close: () => Promise<void>;
}

/** Starts a receiver. */
export type Start = (webhooks: Webhooks, options?: ReceiverOptions) => Promise<RunningReceiver>;

export const startNode: Start = async (webhooks, options) => {
  const middleware = createNodeMiddleware(webhooks, options);
  const server = createServer((request, response) => {
    void middleware(request, response).then((isAnswered) => {
      if (!isAnswered) response.writeHead(418).end("not the receiver's");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    send: (path, init) => fetch(`http://127.0.0.1:${port}${path}`, init),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

export const startWeb: Start = async (webhooks, options) => {
  const middleware = createWebMiddleware(webhooks, options);
  const server = await serve(middleware, { port: 0, hostname: "127.0.0.1" });
  const { port } = server;
  return {
    port,
    send: (path, init) => fetch(`http://127.0.0.1:${port}${path}`, init),
    close: async () => {
      await server.close({ gracePeriod: 0 });
    },
  };
};

export const startInMemory: Start = async (webhooks, options) => {
  const middleware = createWebMiddleware(webhooks, options);
  return {
    port: undefined,
    send: (path, init) => middleware(new Request(`http://127.0.0.1${path}`, init)),
    close: async () => undefined,
  };
};

export const receivers: readonly (readonly [string, Start])[] = [
  ["createNodeMiddleware on a socket", startNode],
  ["createWebMiddleware on a socket", startWeb],
  ["createWebMiddleware in memory", startInMemory],
];

/** A delivery of the default vendor, signed. */
export async function delivery(
  webhooks: Webhooks,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>> = {},
): Promise<RequestInit> {
  return {
    method: "POST",
    body,
    headers: {
      "content-type": "application/json",
      "x-vendor-event": "issues",
      "x-vendor-delivery": "d-1",
      "x-hub-signature-256": await webhooks.sign(body),
      ...headers,
    },
  };
}
