import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { createGzip } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import type { Transport, TransportBody } from "../../src/client/transport/transport.ts";
import { send } from "../../src/client/send.ts";
import { undiciTransport } from "../../src/node/client/index.ts";
import { closed, startRaw } from "./raw-server.ts";
import { rejectionOf, requestOf, textOf } from "./requests.ts";

let server: Server | undefined;
let transport: Transport;
let url = "";

afterEach(async () => {
  server?.closeAllConnections();
  await transport.close();
  await new Promise((resolve) => (server === undefined ? resolve(0) : server.close(resolve)));
  server = undefined;
});

async function start(
  listener: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<void> {
  server = createServer(listener);
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  transport = undiciTransport({ proxy: false });
}

/**
 * Writes without end as fast as the client takes it; resolves with the bytes that went out when it
 * takes no more.
 */
function pour(response: NodeJS.WritableStream, total: { bytes: number }): void {
  const chunk = Buffer.alloc(65_536);
  const more = (): void => {
    total.bytes += chunk.byteLength;
    if (response.writable) response.write(chunk, (error) => void (error ?? more()));
  };
  more();
}

/** Resolves when a count has not grown for a while. */
async function settled(total: { bytes: number }): Promise<number> {
  for (let last = -1; ;) {
    if (total.bytes === last) return last;
    last = total.bytes;
    await wait(150);
  }
}

describe("a request with a large body", () => {
  it.each<[string, (size: number) => TransportBody]>([
    ["bytes", (size) => new Uint8Array(size)],
    ["text", (size) => "x".repeat(size)],
  ])("of %s has the time that its upload takes before the response is late", async (_, make) => {
    const size = 40_000_000;
    await start((request, response) => {
      let received = 0;
      request.on("data", (chunk: Buffer) => {
        received += chunk.byteLength;
        request.pause();
        setTimeout(() => request.resume(), 5);
      });
      request.on("end", () => {
        response.end(`${request.headers["content-length"] ?? "chunked"} ${received}`);
      });
    });
    const timeouts = { connect: 5_000, headers: 1_200, body: 5_000 };
    const request = requestOf(url, { method: "PUT", body: make(size), timeouts });
    expect(textOf((await transport.exchange(request)).body)).toBe(`${size} ${size}`);
  });
});

describe("a streamed response", () => {
  it("arrives as it is sent, piece by piece", async () => {
    let next: (() => void) | undefined;
    await start((_request, response) => {
      response.write("one");
      next = () => response.end("two");
    });
    const { body } = await transport.stream(requestOf(url));
    const reader = body.getReader();
    const first = await reader.read();
    expect(textOf(first.value ?? new Uint8Array())).toBe("one");
    next?.();
    const second = await reader.read();
    expect(textOf(second.value ?? new Uint8Array())).toBe("two");
    expect((await reader.read()).done).toBe(true);
  });

  it("arrives piece by piece when it is compressed, too", async () => {
    let next: (() => void) | undefined;
    await start((_request, response) => {
      response.setHeader("content-encoding", "gzip");
      const gzip = createGzip();
      gzip.pipe(response);
      gzip.write("one");
      gzip.flush();
      next = () => gzip.end("two");
    });
    const { body } = await transport.stream(requestOf(url));
    const reader = body.getReader();
    expect(textOf((await reader.read()).value ?? new Uint8Array())).toBe("one");
    next?.();
    expect(textOf((await reader.read()).value ?? new Uint8Array())).toBe("two");
  });

  it.each([
    ["plain", false],
    ["compressed", true],
  ])("waits for a slow reader instead of filling memory (%s)", async (_, compressed) => {
    const total = { bytes: 0 };
    await start((_request, response) => {
      if (!compressed) return pour(response, total);
      response.setHeader("content-encoding", "gzip");
      const gzip = createGzip({ level: 0 });
      gzip.pipe(response);
      pour(gzip, total);
    });
    const timeouts = { connect: 5_000, headers: 5_000, body: 1_000 };
    const request = requestOf(url, { maxResponseSize: Infinity, timeouts });
    const { body } = await transport.stream(request);
    const waiting = await settled(total);
    // A reader that pauses for longer than the server may is not the fault of the server.
    await wait(1_100);
    // What the kernel holds on both ends is a few MiB; ours is the rest.
    expect(waiting).toBeLessThan(16_000_000);
    const reader = body.getReader();
    let read = 0;
    while (read < waiting + 1_000_000) read += (await reader.read()).value?.byteLength ?? 0;
    expect(total.bytes).toBeGreaterThan(waiting);
    await reader.cancel();
  });

  it("ends the exchange when it is cancelled", async () => {
    const total = { bytes: 0 };
    let ended: Promise<unknown> | undefined;
    await start((request, response) => {
      response.on("error", () => undefined);
      ended = closed(request.socket);
      pour(response, total);
    });
    const { body } = await transport.stream(requestOf(url, { maxResponseSize: Infinity }));
    const reader = body.getReader();
    await reader.read();
    await reader.cancel(new Error("enough"));
    await ended;
  });

  it("leaves its connection to the next request when it was read to its end", async () => {
    const sockets = new Set<unknown>();
    await start((request, response) => {
      sockets.add(request.socket);
      response.end("x".repeat(200_000));
    });
    await transport.close();
    transport = undiciTransport({ proxy: false, connections: 1 });
    for (let round = 0; round < 3; round += 1) {
      const { body } = await transport.stream(requestOf(url));
      expect((await new Response(body).text()).length).toBe(200_000);
    }
    expect(sockets.size).toBe(1);
  });
});

describe("a streamed request", () => {
  it("is sent as fast as the server takes it", async () => {
    let accept: (() => void) | undefined;
    await start((request, response) => {
      accept = () => {
        let received = 0;
        request.on("data", (chunk: Buffer) => (received += chunk.byteLength));
        request.on("end", () => response.end(String(received)));
      };
    });
    const total = { bytes: 0 };
    const pieces = 400;
    let left = pieces;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          if ((left -= 1) < 0) return controller.close();
          total.bytes += 65_536;
          controller.enqueue(new Uint8Array(65_536));
        },
      },
      { highWaterMark: 0 },
    );
    const exchange = transport.exchange(requestOf(url, { method: "PUT", body }));
    expect(await settled(total)).toBeLessThan(16_000_000);
    accept?.();
    expect(textOf((await exchange).body)).toBe(String(pieces * 65_536));
  });

  it.each([
    ["more", "2"],
    ["less", "4"],
  ])("with %s bytes than announced is refused", async (_, length) => {
    await start((request, response) => {
      request.on("error", () => undefined).resume();
      request.on("end", () => response.end());
    });
    const body = new Blob(["abc"]).stream();
    const error = await rejectionOf(
      transport.exchange(
        requestOf(url, { method: "PUT", body, headers: ["content-length", length] }),
      ),
    );
    expect(error).toMatchObject({ code: "ERR_HTTP_HEADER" });
  });

  it("keeps the length that was announced", async () => {
    await start((request, response) => {
      request.resume().on("end", () => response.end(request.headers["content-length"]));
    });
    const { body } = await transport.exchange(
      requestOf(url, {
        method: "PUT",
        body: new Blob(["a", "bc"]).stream(),
        headers: ["content-length", "3"],
      }),
    );
    expect(textOf(body)).toBe("3");
  });

  it("that fails ends the exchange, with its reason as the cause", async () => {
    let ended: Promise<unknown> | undefined;
    await start((request) => {
      ended = closed(request.socket);
      request.on("error", () => undefined).resume();
    });
    const reason = new Error("disk");
    let pulls = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if ((pulls += 1) > 1) return controller.error(reason);
        controller.enqueue(new Uint8Array(10));
      },
    });
    const error = await rejectionOf(transport.exchange(requestOf(url, { method: "PUT", body })));
    expect(error).toMatchObject({ code: "ERR_HTTP_CONNECTION", reason: "other", cause: reason });
    await ended;
  });

  it("of pieces that are no bytes is refused", async () => {
    await start((request) => void request.on("error", () => undefined).resume());
    const text: unknown = "text";
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(text as Uint8Array);
        controller.close();
      },
    });
    const error = await rejectionOf(transport.exchange(requestOf(url, { method: "PUT", body })));
    expect(error).toMatchObject({ code: "ERR_HTTP_BODY" });
  });

  it("of an iterable with such pieces is refused", async () => {
    await start((request) => void request.on("error", () => undefined).resume());
    async function* body(): AsyncGenerator<string> {
      yield 1 as unknown as string;
    }
    await expect(send({ method: "PUT", baseUrl: url, body: body() })).rejects.toMatchObject({
      code: "ERR_HTTP_BODY",
    });
  });

  it("is stopped when the answer comes before its end", async () => {
    const raw = await startRaw((socket) => {
      socket.write("HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno");
    });
    transport = undiciTransport({ proxy: false });
    let cancelled: (() => void) | undefined;
    const stopped = new Promise<void>((resolve) => (cancelled = resolve));
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        controller.enqueue(new Uint8Array(1_000));
        return new Promise((resolve) => setTimeout(resolve, 5));
      },
      cancel: () => cancelled?.(),
    });
    const response = await transport.exchange(requestOf(raw.url, { method: "PUT", body }));
    expect([response.status, textOf(response.body)]).toEqual([413, "no"]);
    await stopped;
    await raw.close();
  });
});
