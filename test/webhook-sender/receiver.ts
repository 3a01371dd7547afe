import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

/** A delivery as it arrived. */
export interface Arrived {
  readonly id: string;
  readonly name: string;
  /** Path of the URL. */
  readonly path: string;
  readonly signature: string;
  readonly body: string;
  readonly at: number;
  readonly headers: IncomingMessage["headers"];
}

/** A server that keeps what it gets. */
export interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly arrived: readonly Arrived[];
  /** Resolves when so many deliveries have arrived. */
  until(count: number): Promise<void>;
}

/** Starts a receiver on a free port; `answer` decides what it says, 200 by default. */
export async function startReceiver(
  answer: (delivery: Arrived, response: ServerResponse, number: number) => void = (_, response) => {
    response.end("ok\n");
  },
): Promise<Receiver> {
  const arrived: Arrived[] = [];
  const waiting = new Set<() => void>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { headers } = request;
      const delivery: Arrived = {
        id: String(headers["webhook-id"]),
        name: String(headers["webhook-event"]),
        path: request.url ?? "",
        signature: String(headers["webhook-signature"]),
        body: Buffer.concat(chunks).toString(),
        at: performance.now(),
        headers,
      };
      arrived.push(delivery);
      answer(delivery, response, arrived.length);
      for (const check of waiting) check();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A listening TCP server has an address of this form.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    arrived,
    until: (count) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (arrived.length < count) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/**
 * Responds to the first delivery, which grants an endpoint its full share, and hangs from then on.
 */
export function respondOnce(_: Arrived, response: ServerResponse, number: number): void {
  if (number === 1) response.end();
}
