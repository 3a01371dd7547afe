import { connect } from "node:net";
import { createGunzip, constants } from "node:zlib";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { createContext, json, text, wrap, type Handler } from "@fetchwork/http";
import { serve } from "@fetchwork/http/serve";
import { afterEach, describe, expect, it } from "vitest";
import { compress, gzip } from "../../../src/index.ts";

const closers: (() => Promise<void>)[] = [];
const lorem = "Lorem ipsum dolor sit amet, consectetur adipiscing elit. ".repeat(40);

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function start(handler: Handler): Promise<{ readonly port: number; readonly url: string }> {
  const server = await serve(handler, {
    port: 0,
    hostname: "127.0.0.1",
    signals: false,
    gracePeriod: 0,
  });
  closers.push(() => server.close({ gracePeriod: 0 }));
  return server;
}

async function get(url: string, accept: string, method = "GET"): Promise<IncomingMessage> {
  const request = httpRequest(url, { method, headers: { "accept-encoding": accept } }).end();
  // `once` resolves to what the event is emitted with.
  const [response] = (await once(request, "response")) as [IncomingMessage];
  return response;
}

describe("over a socket", () => {
  it("keeps Content-Length for whole bodies, small and large", async () => {
    const { url } = await start(
      wrap(({ url }) => text(url.endsWith("l") ? lorem.repeat(80) : lorem), compress()),
    );
    for (const path of ["s", "l"]) {
      const response = await get(url + path, "gzip");
      let bytes = 0;
      for await (const chunk of response) bytes += (chunk as Buffer).length;
      expect(response.headers["content-length"]).toBe(String(bytes));
      expect(response.headers["transfer-encoding"]).toBeUndefined();
    }
  });

  it("responds to HEAD without a length that differs from the GET's", async () => {
    const { url } = await start(wrap(() => json({ lorem }), compress()));
    const response = await get(url, "gzip", "HEAD");
    expect(response.headers["content-encoding"]).toBe("gzip");
    expect(response.headers["content-length"]).toBeUndefined();
    response.resume();
  });

  it.each(["gzip", "br", "zstd"])(
    "sends each event before the next one exists, with %s",
    async (coding) => {
      let send: (text: string) => void = () => undefined;
      const handler = wrap(() => {
        const body = new ReadableStream<Uint8Array>({
          start(controller) {
            send = (event) => controller.enqueue(new TextEncoder().encode(event));
          },
        });
        return new Response(body, { headers: { "content-type": "text/event-stream" } });
      }, compress());
      const { url } = await start(handler);
      // The head comes before any event.
      const response = await get(url, coding);
      expect(response.headers["content-encoding"]).toBe(coding);
      const client = await fetchDecoder(coding, response);
      for (let index = 0; index < 3; index += 1) {
        send(`data: ${index}\n\n`);
        expect(await client.next()).toBe(`data: ${index}\n\n`);
      }
      response.destroy();
    },
  );

  it("cancels the source when the client leaves", async () => {
    const { promise: cancelled, resolve } = Promise.withResolvers<void>();
    const handler = wrap(() => {
      const body = new ReadableStream<Uint8Array>({
        pull: (controller) => controller.enqueue(new TextEncoder().encode(lorem)),
        cancel: () => resolve(),
      });
      return new Response(body, { headers: { "content-type": "text/html" } });
    }, gzip());
    const { url } = await start(handler);
    const response = await get(url, "gzip");
    await once(response, "readable");
    response.destroy();
    await cancelled;
  });

  it("stops reading the source while a client does not read", async () => {
    let bytes = 0;
    const { promise: stalled, resolve } = Promise.withResolvers<number>();
    let timer: NodeJS.Timeout | undefined;
    const handler = wrap(() => {
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          // Does not compress, so that all of it must go to the socket.
          const chunk = crypto.getRandomValues(new Uint8Array(65_536));
          bytes += chunk.byteLength;
          controller.enqueue(chunk);
          clearTimeout(timer);
          timer = setTimeout(() => resolve(bytes), 300);
        },
      });
      return new Response(body, { headers: { "content-type": "text/plain" } });
    }, gzip());
    const { port } = await start(handler);
    const socket = connect(port, "127.0.0.1");
    socket.pause();
    socket.write("GET / HTTP/1.1\r\nhost: a\r\naccept-encoding: gzip\r\n\r\n");
    expect(await stalled).toBeLessThan(32 * 1024 * 1024);
    socket.destroy();
  });
});

interface EventClient {
  next(): Promise<string>;
}

async function fetchDecoder(coding: string, response: IncomingMessage): Promise<EventClient> {
  const zlib = await import("node:zlib");
  const decoder =
    coding === "gzip"
      ? createGunzip({ flush: constants.Z_SYNC_FLUSH })
      : coding === "br"
        ? zlib.createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH })
        : zlib.createZstdDecompress();
  // The client cuts the stream off at the end.
  decoder.on("error", () => undefined);
  response.on("error", () => undefined);
  response.pipe(decoder);
  return {
    async next() {
      for (;;) {
        const chunk: unknown = decoder.read();
        if (chunk instanceof Buffer) return chunk.toString();
        await once(decoder, "readable");
      }
    },
  };
}

describe("memory", () => {
  /** Bytes that are in use outside of the heap of JavaScript too: encoders live there. */
  const used = (): number => process.memoryUsage().rss;

  const endless = wrap(() => {
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode(lorem)),
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  }, compress());

  it.each(["gzip", "br", "zstd"])("is flat over 5,000 aborted responses by %s", async (coding) => {
    const abort = async (): Promise<void> => {
      const request = new Request("http://localhost/", { headers: { "accept-encoding": coding } });
      const response = await endless(request, createContext(request));
      const reader = response.body?.getReader();
      await reader?.read();
      await reader?.cancel();
    };
    const run = async (count: number): Promise<void> => {
      for (let done = 0; done < count; done += 20) {
        await Promise.all(Array.from({ length: 20 }, abort));
      }
    };
    await run(1000);
    const before = used();
    // What one of them kept would be 200 KiB and more.
    await run(2000);
    // An encoder has 256 KiB and more: 5,000 that were kept would be over a gigabyte.
    expect(used() - before).toBeLessThan(64 * 1024 * 1024);
  });

  it("is flat over clients that leave", async () => {
    const { port } = await start(endless);
    const leave = (): Promise<void> =>
      new Promise((resolve) => {
        const socket = connect(port, "127.0.0.1");
        socket.once("data", () => socket.resetAndDestroy());
        socket.once("close", () => resolve());
        socket.write("GET / HTTP/1.1\r\nhost: a\r\naccept-encoding: gzip\r\n\r\n");
      });
    const run = async (count: number): Promise<void> => {
      for (let done = 0; done < count; done += 20) {
        await Promise.all(Array.from({ length: 20 }, leave));
      }
    };
    await run(300);
    const before = used();
    // What one of them kept would be 200 KiB and more.
    await run(1000);
    expect(used() - before).toBeLessThan(96 * 1024 * 1024);
  });
});
