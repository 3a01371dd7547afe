import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { text, type FinishReport, type Handler } from "../../../src/index.ts";
import { serve, type RunningServer, type ServeOptions } from "../../../src/node/index.ts";
import { exchange } from "../raw-client.ts";

// More than the buffers of two sockets hold.
const size = 32 * 1024 * 1024;
const large = "x".repeat(size);
const get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const getOnce = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
let server: RunningServer | undefined;
const reported: unknown[] = [];
const clients: Socket[] = [];

async function start(handler: Handler, options: ServeOptions): Promise<RunningServer> {
  reported.length = 0;
  server = await serve(handler, {
    port: 0,
    hostname: "127.0.0.1",
    signals: false,
    reportError: (error) => reported.push(error),
    ...options,
  });
  return server;
}

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await server?.close({ gracePeriod: 0 });
  server = undefined;
});

/** Sends requests and reads nothing. */
function connectUnreading(port: number, bytes: string): Socket {
  const client = connect(port, "127.0.0.1");
  client.on("error", () => undefined);
  client.write(bytes);
  clients.push(client);
  return client;
}

function endless(): ReadableStream<Uint8Array> {
  const chunk = new Uint8Array(64 * 1024);
  return new ReadableStream({ pull: (controller) => controller.enqueue(chunk) });
}

describe("a client that does not read", () => {
  it.each<[string, () => Response]>([
    ["a text", () => text(large)],
    ["bytes", () => new Response(Buffer.from(large))],
    ["a stream", () => new Response(endless())],
  ])("loses its connection after the response timeout, with %s", async (_what, make) => {
    const report = Promise.withResolvers<FinishReport>();
    const { port } = await start(
      (_request, context) => {
        context.onFinish(report.resolve);
        return make();
      },
      { responseTimeout: 100 },
    );
    connectUnreading(port, get);
    expect(await report.promise).toMatchObject({ status: 200, aborted: true });
    expect(reported).toEqual([]);
  });

  it("does not get more time by sending", async () => {
    const report = Promise.withResolvers<FinishReport>();
    const { port } = await start(
      (_request, context) => {
        context.onFinish(report.resolve);
        return text(large);
      },
      { responseTimeout: 100 },
    );
    const client = connectUnreading(port, get);
    const timer = setInterval(() => client.write(get), 20);
    expect(await report.promise).toMatchObject({ aborted: true });
    clearInterval(timer);
  });

  it("cancels the stream of its response", async () => {
    const cancelled = Promise.withResolvers<unknown>();
    const chunk = new Uint8Array(64 * 1024);
    const { port } = await start(
      () =>
        new Response(
          new ReadableStream({
            pull: (controller) => controller.enqueue(chunk),
            cancel: cancelled.resolve,
          }),
        ),
      { responseTimeout: 100 },
    );
    connectUnreading(port, get);
    expect(await cancelled.promise).toMatchObject({ name: "AbortError" });
  });
});

describe("the response timeout", () => {
  it("does not affect a slow client that goes on reading", async () => {
    const report = Promise.withResolvers<FinishReport>();
    const { port } = await start(
      (_request, context) => {
        context.onFinish(report.resolve);
        return text(large);
      },
      { responseTimeout: 800 },
    );
    const client = connectUnreading(port, getOnce);
    let received = 0;
    // 256 KiB every few milliseconds: the whole takes several times the timeout.
    const timer = setInterval(() => {
      for (let left = 4; left > 0; left -= 1) {
        const chunk: unknown = client.read();
        if (!(chunk instanceof Uint8Array)) break;
        received += chunk.byteLength;
      }
    }, 5);
    await once(client, "end");
    clearInterval(timer);
    expect(received).toBeGreaterThan(size);
    expect(await report.promise).toMatchObject({ aborted: false, bytes: size });
  });

  it("does not count the time that a handler takes, or a stream between two chunks", async () => {
    const { port } = await start(
      async () => {
        await new Promise((resolve) => setTimeout(resolve, 150));
        return new Response(
          new ReadableStream({
            async start(controller) {
              controller.enqueue(Buffer.from("first "));
              await new Promise((resolve) => setTimeout(resolve, 150));
              controller.enqueue(Buffer.from("second"));
              controller.close();
            },
          }),
        );
      },
      { responseTimeout: 50 },
    );
    expect(await exchange(port, getOnce)).toMatch(/first [^]*second/);
  });
});

describe("maxConnections", () => {
  it("closes connections over the limit, and accepts new ones when others have closed", async () => {
    const { port } = await start(() => text("taken"), { maxConnections: 1 });
    const first = connect(port, "127.0.0.1");
    clients.push(first);
    first.write(get);
    await once(first, "data");
    expect(await exchange(port, getOnce)).toBe("");
    first.destroy();
    let answer = "";
    // The server hears of the end in its own time.
    while (answer === "") answer = await exchange(port, getOnce);
    expect(answer).toContain("taken");
  });
});
