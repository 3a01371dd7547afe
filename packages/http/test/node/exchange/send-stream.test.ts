import { afterEach, describe, expect, it } from "vitest";
import type { FinishReport, Handler } from "../../../src/index.ts";
import { nodeMessages, serve, type RunningServer } from "../../../src/node/index.ts";
import { exchange, RawClient } from "../raw-client.ts";

const get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const getOnce = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
let server: RunningServer | undefined;
const reported: unknown[] = [];

async function start(handler: Handler): Promise<RunningServer> {
  reported.length = 0;
  server = await serve(handler, {
    port: 0,
    hostname: "127.0.0.1",
    signals: false,
    reportError: (error) => reported.push(error),
  });
  return server;
}

afterEach(async () => {
  await server?.close({ gracePeriod: 0 });
});

function streamOf(...chunks: readonly string[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(Buffer.from(chunk));
      controller.close();
    },
  });
}

describe("a streamed body", () => {
  it.each([
    ["3", ["too ", "long"]],
    ["99", ["short"]],
    ["nonsense", ["x"]],
  ])("never breaks its Content-Length of %s", async (length, chunks) => {
    const { port } = await start(
      () => new Response(streamOf(...chunks), { headers: { "content-length": length } }),
    );
    const answer = await exchange(port, getOnce);
    expect(answer).not.toContain("long");
    expect(reported).toMatchObject([{ code: "ERR_HTTP_CONTENT_LENGTH" }]);
  });

  it("that fails before its first chunk becomes a 500", async () => {
    const { url } = await start(
      () =>
        new Response(
          new ReadableStream({ pull: (controller) => controller.error(new Error("disk")) }),
        ),
    );
    expect((await fetch(url)).status).toBe(500);
    expect(reported).toEqual([new Error("disk")]);
  });

  it("that fails later closes the connection, and the report has the error", async () => {
    const report = Promise.withResolvers<FinishReport>();
    const fail = Promise.withResolvers<void>();
    const { port } = await start((_request, context) => {
      context.onFinish(report.resolve);
      let count = 0;
      return new Response(
        new ReadableStream({
          async pull(controller) {
            count += 1;
            if (count === 1) {
              controller.enqueue(Buffer.from("part"));
            } else {
              await fail.promise;
              controller.error(new Error("disk"));
            }
          },
        }),
      );
    });
    const client = new RawClient(port);
    client.send(get);
    await client.until(/part/);
    fail.resolve();
    expect(await client.closed).not.toMatch(/\r\n0\r\n\r\n$/);
    expect(await report.promise).toMatchObject({
      status: 200,
      bytes: 4,
      aborted: false,
      error: new Error("disk"),
    });
    expect(reported).toEqual([new Error("disk")]);
  });

  it("that fails later resets the connection of HTTP/1.0, whose end would mean success", async () => {
    let count = 0;
    const { port } = await start(
      () =>
        new Response(
          new ReadableStream({
            async pull(controller) {
              count += 1;
              if (count === 1) controller.enqueue(Buffer.from("part"));
              else await new Promise((resolve) => setTimeout(resolve, 50));
              if (count === 2) controller.error(new Error("disk"));
            },
          }),
        ),
    );
    const client = new RawClient(port);
    const isReset = new Promise((resolve) => void client.socket.once("close", resolve));
    client.send("GET / HTTP/1.0\r\n\r\n");
    expect(await isReset).toBe(true);
  });

  it.each([
    ["strings", "text"],
    ["numbers", 1],
  ])("of %s is an error", async (_what, chunk) => {
    const { url } = await start(
      () => new Response(new ReadableStream({ start: (controller) => controller.enqueue(chunk) })),
    );
    expect((await fetch(url)).status).toBe(500);
    expect(reported).toMatchObject([{ code: "ERR_HTTP_RESPONSE" }]);
  });

  it("sends its head and its first chunk at once", async () => {
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
    const { port } = await start(
      () =>
        new Response(
          new ReadableStream<Uint8Array>({
            start: (given) => {
              controller = given;
            },
          }),
          { headers: { "content-type": "text/event-stream" } },
        ),
    );
    const client = new RawClient(port);
    client.send(get);
    await client.until(/text\/event-stream[^]*\r\n\r\n$/);
    controller?.enqueue(Buffer.from("data: 1\n\n"));
    await client.until(/data: 1/);
    controller?.close();
    await client.until(/\r\n0\r\n\r\n$/);
  });

  it("is read no faster than the client reads it", async () => {
    let pulled = 0;
    let longest = 0;
    // More than the buffers of the kernel take, which can be tens of megabytes.
    let total = 1_000;
    const chunk = new Uint8Array(256 * 1024);
    const full = Promise.withResolvers<void>();
    const { port } = await start((_request, context) => {
      const out = nodeMessages(context)?.response;
      return new Response(
        new ReadableStream({
          pull(controller) {
            pulled += 1;
            if (pulled > total) controller.close();
            else controller.enqueue(chunk);
            longest = Math.max(longest, out?.writableLength ?? 0);
            if (longest > chunk.byteLength) full.resolve();
          },
        }),
      );
    });
    const client = new RawClient(port);
    client.socket.pause();
    client.send(get);
    // Node's own buffer fills up when the kernel's are full.
    await full.promise;
    const early = pulled;
    expect(early).toBeLessThan(total);
    total = early + 20;
    client.socket.resume();
    // Before the text is searched, which is long.
    await expect.poll(() => pulled, { timeout: 15_000 }).toBe(total + 1);
    await client.until(/\r\n0\r\n\r\n$/);
    expect(pulled).toBe(total + 1);
    expect(longest).toBeLessThan(2 * chunk.byteLength);
  });

  it("is cancelled, and the signal is aborted, when the client leaves", async () => {
    const report = Promise.withResolvers<FinishReport>();
    const cancelled = Promise.withResolvers<unknown>();
    const aborted = Promise.withResolvers<void>();
    const { port } = await start((_request, context) => {
      context.onFinish(report.resolve);
      context.signal.addEventListener("abort", () => aborted.resolve());
      return new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(Buffer.from("part")),
          cancel: cancelled.resolve,
        }),
      );
    });
    const client = new RawClient(port);
    client.send(get);
    await client.until(/part/);
    client.reset();
    await aborted.promise;
    expect(await cancelled.promise).toMatchObject({ name: "AbortError" });
    expect(await report.promise).toMatchObject({ status: 200, bytes: 4, aborted: true });
    expect(reported).toEqual([]);
  });

  it("is cancelled when the response comes after the client has left", async () => {
    const cancelled = Promise.withResolvers<unknown>();
    const asked = Promise.withResolvers<void>();
    const { port } = await start(async (_request, { signal }) => {
      asked.resolve();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return new Response(new ReadableStream({ cancel: cancelled.resolve }));
    });
    const client = new RawClient(port);
    client.send(get);
    await asked.promise;
    client.reset();
    await cancelled.promise;
    expect(reported).toEqual([]);
  });

  it("is cancelled for HEAD", async () => {
    const cancelled = Promise.withResolvers<unknown>();
    const { port } = await start(
      () =>
        new Response(new ReadableStream({ cancel: cancelled.resolve }), {
          headers: { "content-length": "12" },
        }),
    );
    const head = await exchange(port, "HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    expect(head).toMatch(/content-length: 12[^]*\r\n\r\n$/);
    await cancelled.promise;
  });

  it("echoes a body as it arrives", async () => {
    const { port } = await start((request) => new Response(request.body));
    const client = new RawClient(port);
    client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
    await client.until(/one/);
    client.send("3\r\ntwo\r\n0\r\n\r\n");
    await client.until(/two\r\n0\r\n\r\n$/);
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nthree");
    // Arrived whole, so it goes out whole.
    expect(await client.until(/three$/)).toMatch(/content-length: 5\r\n/);
  });
});
