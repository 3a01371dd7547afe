import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { BodyShare, readBody } from "@fetchwork/kit";
import {
  deriveRequest,
  json,
  nativeRequest,
  text,
  type Context,
  type Handler,
} from "../../../src/index.ts";
import {
  serve,
  toNodeListener,
  type RunningServer,
  type ServeOptions,
} from "../../../src/node/index.ts";
import { createServer } from "node:http";
import { exchange, RawClient } from "../raw-client.ts";

let server: RunningServer | undefined;
const reported: unknown[] = [];

async function start(handler: Handler, options: ServeOptions = {}): Promise<RunningServer> {
  reported.length = 0;
  server = await serve(handler, {
    port: 0,
    hostname: "127.0.0.1",
    signals: false,
    gracePeriod: 0,
    reportError: (error) => reported.push(error),
    ...options,
  });
  return server;
}

afterEach(async () => {
  await server?.close({ gracePeriod: 0 });
});

const mebibyte = 1_048_576;
const problem = (status: number): RegExp =>
  new RegExp(String.raw`^HTTP/1\.1 ${status} [^]*content-type: application/problem\+json`, "i");

const head = (framing: string): string => `POST / HTTP/1.1\r\nHost: a\r\n${framing}\r\n`;
const withLength = (size: number): string =>
  head(`Content-Length: ${size}\r\nConnection: close\r\n`);
const chunked = head("Transfer-Encoding: chunked\r\nConnection: close\r\n");
const chunk = (size: number): string => `${size.toString(16)}\r\n${"x".repeat(size)}\r\n`;

/** Replaces the body by another stream of it, as a middleware that looks at the bytes does. */
function withOwnStream(request: Request): Request {
  const { body } = request;
  if (body === null) return request;
  const stream = body.pipeThrough(new TransformStream<Uint8Array<ArrayBuffer>>());
  BodyShare.of(body)?.attachTo(stream);
  return deriveRequest(request, { body: stream });
}

/** Ways to read a body whole; each returns its length. */
const wholeReads: readonly [string, (request: Request) => Promise<number>][] = [
  ["text()", async (request) => (await request.text()).length],
  ["bytes()", async (request) => (await request.bytes()).length],
  ["arrayBuffer()", async (request) => (await request.arrayBuffer()).byteLength],
  ["blob()", async (request) => (await request.blob()).size],
  [
    "text() after body was looked at",
    async (request) => (request.body === null ? 0 : (await request.text()).length),
  ],
  ["nativeRequest().text()", async (request) => (await nativeRequest(request).text()).length],
  ["nativeRequest().blob()", async (request) => (await nativeRequest(request).blob()).size],
  ["clone().text()", async (request) => (await request.clone().text()).length],
  [
    "text() of a derived request",
    async (request) => (await deriveRequest(request, { url: "/b" }).text()).length,
  ],
  [
    "text() of a derived native request",
    async (request) =>
      (await nativeRequest(deriveRequest(request, { headers: { "x-a": "b" } })).text()).length,
  ],
  [
    "text() of a derived request with another stream",
    async (request) => (await withOwnStream(request).text()).length,
  ],
  [
    "clone().text() of a derived request with another stream",
    async (request) => (await withOwnStream(request).clone().text()).length,
  ],
];

describe("maxBodySize of serve()", () => {
  it.each(wholeReads)("limits %s to 1 MiB by default", async (_what, read) => {
    const { port } = await start(async (request) => json(await read(request)));
    const exact = "x".repeat(mebibyte);
    expect(await exchange(port, withLength(mebibyte) + exact)).toMatch(/200 OK[^]*\r\n1048576$/);
    expect(await exchange(port, `${chunked}${chunk(mebibyte)}0\r\n\r\n`)).toMatch(
      /200 OK[^]*\r\n1048576$/,
    );
    expect(await exchange(port, `${chunked}${chunk(mebibyte)}${chunk(1)}0\r\n\r\n`)).toMatch(
      problem(413),
    );
    const long = "x".repeat(mebibyte + 1);
    expect(await exchange(port, withLength(long.length) + long)).toMatch(problem(413));
    expect(reported).toEqual([]);
  });

  it("refuses a body whose Content-Length is over it before the body arrives", async () => {
    const { port } = await start(async (request) => text(await request.text()));
    const client = new RawClient(port);
    client.send(withLength(mebibyte + 1));
    expect(await client.until(/\}$/)).toMatch(problem(413));
    client.reset();
  });

  it.each(["json()", "formData()"] as const)("limits %s", async (what) => {
    const { port } = await start(
      async (request) => {
        await (what === "json()" ? request.json() : request.formData());
        return text("read");
      },
      { maxBodySize: 5 },
    );
    const type = "Content-Type: application/x-www-form-urlencoded\r\n";
    const request = (body: string): string =>
      head(`${type}Content-Length: ${body.length}\r\nConnection: close\r\n`) + body;
    expect(await exchange(port, request("12345"))).toMatch(/^HTTP\/1\.1 200/);
    expect(await exchange(port, request("123456"))).toMatch(problem(413));
  });

  it("does not limit a body that is read as a stream, or by a reader with its own limit", async () => {
    const { port, url } = await start(async (request) => {
      if (request.url.endsWith("/limited")) {
        return json((await readBody(request.body, { limit: 3 * mebibyte })).length);
      }
      let size = 0;
      for await (const bytes of request.body ?? []) size += bytes.length;
      return json(size);
    });
    const body = new Uint8Array(2 * mebibyte);
    expect(await (await fetch(url, { method: "POST", body })).json()).toBe(2 * mebibyte);
    expect(await (await fetch(`${url}limited`, { method: "POST", body })).json()).toBe(
      2 * mebibyte,
    );
    expect(port).toBeGreaterThan(0);
  });

  it("can be raised, up to maxRequestBodySize", async () => {
    const options = { maxBodySize: 3 * mebibyte, maxRequestBodySize: 2 * mebibyte };
    const { port } = await start(async (request) => json((await request.text()).length), options);
    expect(await exchange(port, `${chunked}${chunk(2 * mebibyte)}0\r\n\r\n`)).toMatch(/200 OK/);
    expect(await exchange(port, `${chunked}${chunk(2 * mebibyte + 1)}0\r\n\r\n`)).toMatch(
      problem(413),
    );
  });

  it("is an option of toNodeListener() too", async () => {
    const handler: Handler = async (request) => json((await request.text()).length);
    const node = createServer(toNodeListener(handler, { maxBodySize: 5 })).listen(0, "127.0.0.1");
    await once(node, "listening");
    const address = node.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    expect(await exchange(port, `${withLength(5)}12345`)).toMatch(/^HTTP\/1\.1 200/);
    expect(await exchange(port, `${withLength(6)}123456`)).toMatch(problem(413));
    node.close();
  });

  it.each([
    [{ maxBodySize: -1 }, "maxBodySize must be a whole number of at least 0, got -1"],
    [
      { maxBodySize: 10, maxBufferedSize: 9 },
      "maxBufferedSize must be a whole number of at least 10, got 9",
    ],
  ])("is checked in %o", (options, message) => {
    expect(() => serve(() => text(""), options)).toThrow(message);
    expect(() => toNodeListener(() => text(""), options)).toThrow(message);
  });
});

describe("maxBufferedSize of serve()", () => {
  it("refuses the largest bodies of 40 connections with 503, and serves a small request in the meantime", async () => {
    const size = 900_000;
    const { port, url } = await start(async (request) => json((await request.text()).length), {
      maxBufferedSize: 8 * mebibyte,
    });
    const clients = Array.from({ length: 40 }, () => new RawClient(port));
    let refusedCount = 0;
    for (const client of clients) {
      client.send(withLength(size) + "x".repeat(size - 1));
      void client.until(/^HTTP\/1\.1 503/).then(
        () => (refusedCount += 1),
        () => undefined,
      );
    }
    // What fits in 8 MiB is nine of these bodies.
    while (refusedCount < 31) await new Promise(setImmediate);
    expect((await fetch(url, { method: "POST", body: "small" })).status).toBe(200);
    for (const client of clients) client.send("x");
    const responses = await Promise.all(clients.map(({ closed }) => closed));
    const failed = responses.filter((response) => response.startsWith("HTTP/1.1 503"));
    expect(responses.filter((response) => response.startsWith("HTTP/1.1 200"))).toHaveLength(9);
    expect(failed).toHaveLength(31);
    for (const response of failed) expect(response).toMatch(/\r\nretry-after: 1\r\n/i);
    expect(reported).toHaveLength(31);
  });

  it("counts a body until the handler has responded, not until its response has ended", async () => {
    const gate = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
    const { url } = await start(
      async (request) => {
        await request.text();
        if (!request.url.endsWith("/slow")) return text("done");
        arrived.resolve();
        await gate.promise;
        return new Response(new ReadableStream({ start: (one) => void (controller = one) }));
      },
      { maxBodySize: 1000, maxBufferedSize: 1000 },
    );
    const body = "x".repeat(700);
    const slow = fetch(`${url}slow`, { method: "POST", body });
    await arrived.promise;
    expect((await fetch(url, { method: "POST", body })).status).toBe(503);
    gate.resolve();
    const streaming = await slow;
    expect((await fetch(url, { method: "POST", body })).status).toBe(200);
    controller?.close();
    expect(await streaming.text()).toBe("");
  });

  it("is free again after bodies that were read, refused, broken off or failed, however they are read", async () => {
    const left: Promise<void>[] = [];
    const read: readonly ((request: Request, context: Context) => Promise<unknown>)[] = [
      (request) => request.text(),
      (request) => nativeRequest(request).text(),
      (request) => readBody(request.body, { limit: 900 }),
    ];
    const { port, url } = await start(
      async (request, context) => {
        const { searchParams } = new URL(request.url);
        const done = Promise.withResolvers<void>();
        left.push(done.promise);
        context.onFinish(() => done.resolve());
        await read[Number(searchParams.get("way"))]?.(request, context);
        if (searchParams.has("fail")) throw new Error("failed");
        if (searchParams.has("hang")) await new Promise(() => undefined);
        return text("read");
      },
      { maxBodySize: 900, maxBufferedSize: 1000 },
    );
    const lines = ["read", "fail", "hang"];
    for (let round = 0; round < 30; round += 1) {
      const way = round % read.length;
      const target = `POST /?way=${way}&${lines[Math.floor(round / 3) % 3] ?? ""} HTTP/1.1\r\nHost: a\r\n`;
      const broken = new RawClient(port);
      broken.send(`${target}Content-Length: 800\r\n\r\n${"x".repeat(400 + round)}`);
      while (left.length === 0) await new Promise(setImmediate);
      broken.reset();
      await exchange(
        port,
        `${target}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n${chunk(901)}`,
      );
      const whole = new RawClient(port);
      whole.send(`${target}Content-Length: 800\r\n\r\n${"x".repeat(800)}`);
      if (target.includes("hang")) {
        while (left.length < 3) await new Promise(setImmediate);
      } else {
        await whole.until(/^HTTP/);
      }
      whole.reset();
      await Promise.all(left.splice(0));
      const response = await fetch(`${url}?way=${way}`, { method: "POST", body: "x".repeat(900) });
      expect([round, response.status]).toEqual([round, 200]);
      await Promise.all(left.splice(0));
    }
  });
});
