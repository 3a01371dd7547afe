import { getEventListeners } from "node:events";
import type { Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { AbortError } from "../../src/client/transport/transport-errors.ts";
import type { Transport } from "../../src/client/transport/transport.ts";
import { undiciTransport, type UndiciTransportOptions } from "../../src/node/client/index.ts";
import { closed, startRaw, type RawServer } from "./raw-server.ts";
import { rejectionOf, requestOf, textOf } from "./requests.ts";

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
let server: RawServer;
let transport: Transport;

afterEach(async () => {
  await server.close();
  await transport.close();
});

async function start(
  onRequest: (socket: Socket) => void,
  options: UndiciTransportOptions = {},
): Promise<void> {
  server = await startRaw(onRequest);
  transport = undiciTransport({ proxy: false, ...options });
}

describe("a signal", () => {
  it("that fired before stops the request before it is sent", async () => {
    await start((socket) => socket.write(ok));
    const reason = new Error("no");
    const signal = AbortSignal.abort(reason);
    for (const send of [transport.exchange(requestOf(server.url, { signal }))]) {
      const error = await rejectionOf(send);
      expect(error).toBeInstanceOf(AbortError);
      expect(error.cause).toBe(reason);
    }
    expect(server.sockets).toHaveLength(0);
  });

  it("stops a name from being looked up, and no connection is made", async () => {
    let answer: (() => void) | undefined;
    const asked = new Promise<void>((resolve) => {
      void start((socket) => socket.write(ok), {
        lookup: (_name, _options, callback) => {
          answer = () => callback(null, [{ address: "127.0.0.1", family: 4 }]);
          resolve();
        },
      }).then(() => {
        exchange = transport.exchange(
          requestOf(`http://name.test:${server.port}`, { signal: controller.signal }),
        );
        exchange.catch(() => undefined);
      });
    });
    const controller = new AbortController();
    let exchange: Promise<unknown> = Promise.resolve();
    await asked;
    controller.abort();
    expect(await rejectionOf(exchange)).toBeInstanceOf(AbortError);
    answer?.();
    await new Promise((resolve) => setImmediate(resolve));
    expect(server.sockets).toHaveLength(0);
  });

  it("stops a handshake, and the connection is left", async () => {
    await start(() => undefined);
    const controller = new AbortController();
    const exchange = transport.exchange(
      requestOf(server.url.replace("http:", "https:"), { signal: controller.signal }),
    );
    while (server.sockets.length === 0) await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    expect(await rejectionOf(exchange)).toBeInstanceOf(AbortError);
    await closed(server.sockets[0]);
  });

  it("stops a request that waits for a free connection, and hurts no other", async () => {
    let answer: (() => void) | undefined;
    let requests = 0;
    await start(
      (socket) => {
        requests += 1;
        answer = () => socket.write(ok);
      },
      { connections: 1 },
    );
    const first = transport.exchange(requestOf(server.url));
    const controller = new AbortController();
    const second = transport.exchange(requestOf(server.url, { signal: controller.signal }));
    while (answer === undefined) await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    expect(await rejectionOf(second)).toBeInstanceOf(AbortError);
    answer();
    expect(textOf((await first).body)).toBe("ok");
    const third = transport.exchange(requestOf(server.url));
    while (requests < 2) await new Promise((resolve) => setImmediate(resolve));
    answer();
    expect(textOf((await third).body)).toBe("ok");
    expect(requests).toBe(2);
    expect(server.sockets).toHaveLength(1);
  });

  it.each([
    ["for the head", ""],
    ["for the rest of the head", "HTTP/1.1 200 OK\r\nA: "],
    ["for the body", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe"],
  ])("stops the wait %s", async (_, written) => {
    const controller = new AbortController();
    await start((socket) => socket.write(written, () => setImmediate(() => controller.abort())));
    const { signal } = controller;
    const error = await rejectionOf(transport.exchange(requestOf(server.url, { signal })));
    expect(error).toBeInstanceOf(AbortError);
    expect(error.cause).toBe(signal.reason);
    await closed(server.sockets[0]);
  });

  it("breaks a streamed body off", async () => {
    await start((socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe"));
    const controller = new AbortController();
    const { signal } = controller;
    const { body } = await transport.stream(requestOf(server.url, { signal }));
    controller.abort();
    expect(await rejectionOf(new Response(body).text())).toBeInstanceOf(AbortError);
    await closed(server.sockets[0]);
  });

  it("stops the source of a streamed request", async () => {
    const controller = new AbortController();
    await start(() => controller.abort());
    const stopped = new Promise<void>((resolve) => {
      const body = new ReadableStream<Uint8Array>({
        pull: (stream) => {
          stream.enqueue(new Uint8Array(10));
          return new Promise((next) => setImmediate(next));
        },
        cancel: () => resolve(),
      });
      const { signal } = controller;
      transport
        .exchange(requestOf(server.url, { method: "PUT", body, signal }))
        .catch(() => undefined);
    });
    await stopped;
  });

  it("is not listened to any more after the end", async () => {
    await start((socket) => socket.write(ok));
    const { signal } = new AbortController();
    for (let round = 0; round < 3; round += 1) {
      await transport.exchange(requestOf(server.url, { signal }));
      const { body } = await transport.stream(requestOf(server.url, { signal }));
      await new Response(body).text();
    }
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });
});
