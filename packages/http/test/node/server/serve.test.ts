import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { empty, json, text, type FinishReport, type Handler } from "../../../src/index.ts";
import { replaceBody, takeResponse } from "../../../src/internal.ts";
import { serve, type RunningServer, type ServeOptions } from "../../../src/node/index.ts";
import { exchange, RawClient } from "../raw-client.ts";

let server: RunningServer | undefined;
const reported: unknown[] = [];

async function start(handler: Handler, options: ServeOptions = {}): Promise<RunningServer> {
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
  await server?.close({ gracePeriod: 0 });
  server = undefined;
});

const requestOf = (method: string, path = "/"): string =>
  `${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;

describe("serve() rejects", () => {
  it.each<[string, object]>([
    ["port", { port: 70_000 }],
    ["port", { port: "80" }],
    ["hostname", { hostname: "" }],
    ["requestTimeout", { requestTimeout: -1 }],
    ["headersTimeout", { headersTimeout: 10, requestTimeout: 5 }],
    ["keepAliveTimeout", { keepAliveTimeout: 1.5 }],
    ["responseTimeout", { responseTimeout: Infinity }],
    ["maxConnections", { maxConnections: 0 }],
    ["maxHeaderSize", { maxHeaderSize: 10 }],
    ["maxRequestBodySize", { maxRequestBodySize: Number.NaN }],
    ["gracePeriod", { gracePeriod: Infinity }],
    ["http2", { http2: true }],
    ["signal", { signal: {} }],
    ["reportError", { reportError: 1 }],
    ["tls", { tls: { cert: "x", key: "y" } }],
    ["tls", { tls: {} }],
  ])("an invalid %s, at once: %j", (name, options) => {
    const call = (): unknown => serve(() => text(""), options);
    expect(call).toThrow(expect.objectContaining({ code: "ERR_HTTP_OPTION" }));
    expect(call).toThrow(name);
  });

  it("a handler that is not a function, at once", () => {
    expect(() => serve({} as never)).toThrow(expect.objectContaining({ code: "ERR_HTTP_HANDLER" }));
  });

  it("a port that is taken, with a rejection that names it", async () => {
    const { port } = await start(() => text(""));
    await expect(serve(() => text(""), { port, hostname: "127.0.0.1" })).rejects.toMatchObject({
      code: "ERR_HTTP_LISTEN",
      systemCode: "EADDRINUSE",
      port,
      message: `port ${port} of 127.0.0.1 is in use by another process (EADDRINUSE)`,
    });
  });
});

describe("serve()", () => {
  it("returns the address that it listens on", async () => {
    const running = await start(() => text("here"));
    expect(running.url).toBe(`http://127.0.0.1:${running.port}/`);
    expect(running.hostname).toBe("127.0.0.1");
    expect(await (await fetch(running.url)).text()).toBe("here");
  });

  it("passes the handler address, signal and request", async () => {
    const { url } = await start(async (request, context) =>
      json({
        method: request.method,
        path: new URL(request.url).pathname,
        body: await request.text(),
        peer: context.peer,
        ip: context.ip,
        aborted: context.signal.aborted,
      }),
    );
    const response = await fetch(`${url}a%20b`, { method: "POST", body: "hello" });
    expect(await response.json()).toEqual({
      method: "POST",
      path: "/a%20b",
      body: "hello",
      peer: "127.0.0.1",
      ip: "127.0.0.1",
      aborted: false,
    });
  });

  const kinds: [string, () => Response][] = [
    ["json()", () => json({ a: "ü" })],
    ["a replaced text", () => withBody('{"a":"ü"}')],
    ["bytes", () => withBody(new TextEncoder().encode('{"a":"ü"}'))],
    ["a platform response", () => new Response('{"a":"ü"}')],
    ["a wrong Content-Length", () => json({ a: "ü" }, { headers: { "content-length": "3" } })],
    [
      "a Content-Length in capitals",
      () => text('{"a":"ü"}', { headers: { "Content-Length": "99" } }),
    ],
  ];
  it.each(kinds)("sends %s whole to GET, and its head alone to HEAD", async (_what, make) => {
    const { port } = await start(make);
    const got = await exchange(port, requestOf("GET"));
    expect(Buffer.from(got, "latin1").toString()).toContain('{"a":"ü"}');
    const head = await exchange(port, requestOf("HEAD"));
    expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n$/);
    expect(/content-length: \d+/i.exec(head)?.[0]).toBe(/content-length: \d+/i.exec(got)?.[0]);
  });

  it("may send one shared response any number of times", async () => {
    const shared = json({ shared: true }, { status: 404 });
    const { url } = await start(() => shared);
    for (let count = 0; count < 3; count += 1) {
      const response = await fetch(url);
      expect([response.status, await response.text()]).toEqual([404, '{"shared":true}']);
    }
  });

  it("responds with 500 to the second use of a response that cannot be shared, and reports why", async () => {
    const shared = withBody("1");
    const { url } = await start(() => shared);
    expect((await fetch(url)).status).toBe(200);
    expect((await fetch(url)).status).toBe(500);
    expect(reported).toMatchObject([{ code: "ERR_HTTP_RESPONSE_SHARED" }]);
  });

  it.each<[string, () => Response, number, string | undefined]>([
    ["204", () => empty(), 204, undefined],
    ["204 of the platform", () => new Response(null, { status: 204 }), 204, undefined],
    [
      "204 with a false length",
      () => empty(204, { headers: { "content-length": "5" } }),
      204,
      undefined,
    ],
    ["304", () => empty(304), 304, undefined],
    ["404", () => empty(404), 404, "0"],
    ["205", () => empty(205), 205, "0"],
  ])("sends %s without a body", async (_what, make, status, length) => {
    const { port } = await start(make);
    const answer = await exchange(port, requestOf("GET"));
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [^]*\\r\\n\\r\\n$`));
    expect(/content-length: (\d+)/i.exec(answer)?.[1]).toBe(length);
    expect(answer).not.toMatch(/transfer-encoding/i);
  });

  it("drops headers that describe another connection, and keeps each Set-Cookie", async () => {
    const { port } = await start(() =>
      json(1, {
        headers: [
          ["transfer-encoding", "chunked"],
          ["keep-alive", "timeout=1"],
          ["upgrade", "x"],
          ["set-cookie", "a=1"],
          ["set-cookie", "b=2"],
        ],
      }),
    );
    const answer = await exchange(port, requestOf("GET"));
    expect(answer).not.toMatch(/transfer-encoding|timeout=1|upgrade/i);
    expect(answer.match(/set-cookie: .*/gi)).toEqual(["set-cookie: a=1", "set-cookie: b=2"]);
  });

  it("responds with 500 Internal Server Error when Node rejects a header of the handler", async () => {
    const { port } = await start(() => text("x", { headers: { "x-a": "a\u0001b" } }));
    expect(await exchange(port, requestOf("GET"))).toMatch(
      /^HTTP\/1\.1 500 Internal Server Error\r\n/,
    );
    expect(reported).toMatchObject([{ code: "ERR_INVALID_CHAR" }]);
  });

  it("responds with 500 without the reason when the handler fails, and reports it once", async () => {
    const { url } = await start((request) => {
      const error = new Error("secret");
      if (request.method === "GET") throw error;
      return Promise.reject(error);
    });
    for (const method of ["GET", "POST"]) {
      const response = await fetch(url, { method });
      expect(response.status).toBe(500);
      expect(response.headers.get("content-type")).toBe("application/problem+json");
      expect(await response.json()).toEqual({
        type: "about:blank",
        title: "Internal Server Error",
        status: 500,
        detail: "the server could not handle the request",
        message: "the server could not handle the request",
      });
    }
    expect(reported).toEqual([new Error("secret"), new Error("secret")]);
  });

  it.each<[string, () => unknown, string]>([
    ["nothing", () => undefined, "ERR_HTTP_RESPONSE"],
    ["a network error", () => Response.error(), "ERR_HTTP_RESPONSE"],
    ["a used body", usedResponse, "ERR_HTTP_RESPONSE"],
    ["a used json()", usedJson, "ERR_HTTP_RESPONSE"],
  ])("responds with 500 when the handler returns %s", async (_what, handler, code) => {
    const { url } = await start(handler as Handler);
    expect((await fetch(url)).status).toBe(500);
    expect(reported).toMatchObject([{ code }]);
  });

  const failed = new Error("from the test: reportError");
  it.each<[string, () => unknown]>([
    [
      "throws",
      () => {
        throw failed;
      },
    ],
    ["rejects", () => Promise.reject(failed)],
  ])("goes on when reportError itself %s", async (_, reportError) => {
    const { url } = await start(
      (_request, context) => {
        context.waitUntil(Promise.reject(new Error("later")));
        throw new Error("handler");
      },
      { reportError },
    );
    expect((await fetch(url)).status).toBe(500);
    expect((await fetch(url)).status).toBe(500);
  });

  it("reports the end of an exchange with what was sent", async () => {
    const reports: FinishReport[] = [];
    const ended = Promise.withResolvers<void>();
    const { url } = await start((request, context) => {
      context.onFinish((report) => {
        reports.push(report);
        if (reports.length === 4) ended.resolve();
      });
      if (request.method === "DELETE") throw new Error("broken");
      return request.method === "PUT" ? new Response(null, { status: 201 }) : text("grüße");
    });
    for (const method of ["GET", "HEAD", "PUT", "DELETE"])
      await (await fetch(url, { method })).text();
    await ended.promise;
    expect(reports).toMatchObject([
      { status: 200, bytes: 7, aborted: false },
      { status: 200, bytes: 0, aborted: false },
      { status: 201, bytes: 0, aborted: false },
      { status: 500, aborted: false, error: new Error("broken") },
    ]);
    expect(reports[0]).not.toHaveProperty("error");
  });

  it("calls a finish listener that is added after the response was sent", async () => {
    const report = Promise.withResolvers<FinishReport>();
    const { url } = await start((_request, context) => {
      context.waitUntil(
        new Promise<void>((resolve) => {
          context.onFinish(() => {
            setImmediate(() => {
              context.onFinish(report.resolve);
              resolve();
            });
          });
        }),
      );
      return text("gone");
    });
    await (await fetch(url)).text();
    expect(await report.promise).toMatchObject({ bytes: 4 });
  });

  it("has the name that it was given in its URL, for certificates are of names", async () => {
    const running = await start(() => text("ours"), { hostname: "localhost" });
    expect(running.url).toBe(`http://localhost:${running.port}/`);
    expect(await (await fetch(running.url)).text()).toBe("ours");
  });

  it.each(["0.0.0.0", "::"])("has the URL of localhost when it listens on %s", async (hostname) => {
    const running = await start(() => text("ours"), { hostname });
    expect(running.url).toBe(`http://localhost:${running.port}/`);
    expect(await (await fetch(running.url)).text()).toBe("ours");
  });

  it("has the client's IPv4 address in the form of IPv4 when it listens for both", async () => {
    const running = await start((_request, context) => text(String(context.peer)), {
      hostname: "::",
    });
    expect(await (await fetch(`http://127.0.0.1:${running.port}/`)).text()).toBe("127.0.0.1");
  });

  it("runs next to a plain server", async () => {
    const plain = createServer();
    await new Promise<void>((resolve) => void plain.listen(0, "127.0.0.1", resolve));
    const running = await start(() => text("ours"));
    expect(await (await fetch(running.url)).text()).toBe("ours");
    plain.close();
  });
});

function isRefused(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(false);
    });
    socket.on("error", () => resolve(true));
  });
}

/** Keeps this process from reading, as a machine that does much else may. */
function waitWithoutEvents(time: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, time);
}

describe("a server that stops", () => {
  it("lets a request in flight end, sends Connection: close, and refuses new connections", async () => {
    const started = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const running = await start(async () => {
      started.resolve();
      await release.promise;
      return text("finished");
    });
    const client = new RawClient(running.port);
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await started.promise;
    const closing = running.close();
    await expect.poll(() => isRefused(running.port)).toBe(true);
    release.resolve();
    expect(await client.closed).toMatch(/^HTTP\/1\.1 200 OK[^]*connection: close[^]*finished$/i);
    await closing;
    await running.finished;
  });

  it("responds to all clients that are connected when it stops, accepted or not", async () => {
    const running = await start(() => text("answered"));
    const clients = Array.from({ length: 50 }, () => new RawClient(running.port));
    for (const client of clients)
      client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    await Promise.all(clients.map(({ socket }) => once(socket, "connect")));
    await running.close();
    const answers = await Promise.all(clients.map(({ closed }) => closed));
    expect(answers.filter((answer) => answer.endsWith("answered"))).toHaveLength(50);
  });

  it("responds to a request that a kept connection received before the stop", async () => {
    const running = await start(() => text("answered"));
    const clients = Array.from({ length: 20 }, () => new RawClient(running.port));
    for (const client of clients) client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await Promise.all(clients.map((client) => client.until(/answered$/)));
    for (const client of clients) client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await running.close();
    const answers = await Promise.all(clients.map(({ closed }) => closed));
    const second = /answered[^]*answered$/;
    expect(answers.filter((answer) => second.test(answer))).toHaveLength(20);
  });

  it("waits for the request of a connection that was just opened", async () => {
    const running = await start(() => text("answered"));
    const client = new RawClient(running.port);
    await once(client.socket, "connect");
    const closing = running.close();
    await expect.poll(() => isRefused(running.port)).toBe(true);
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(await client.closed).toMatch(/answered$/);
    await closing;
  });

  it("responds on a used connection that was idle when it stopped, with Connection: close", async () => {
    const running = await start(() => text("answered"));
    const client = new RawClient(running.port);
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await client.until(/answered$/);
    const closing = running.close();
    await expect.poll(() => isRefused(running.port), { interval: 5 }).toBe(true);
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(await client.closed).toMatch(/answered[^]*connection: close[^]*answered$/i);
    await closing;
  });

  it.each([
    ["used", "answered"],
    ["new", ""],
  ])("responds on a %s connection that it had no time to read", async (_, before) => {
    const running = await start(() => text("answered"));
    const client = new RawClient(running.port);
    if (before === "") await once(client.socket, "connect");
    else {
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
      await client.until(/answered$/);
    }
    const closing = running.close();
    await expect.poll(() => isRefused(running.port), { interval: 5 }).toBe(true);
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    waitWithoutEvents(600);
    expect(await client.closed).toMatch(
      new RegExp(`^(HTTP[^]*${before})?HTTP[^]*connection: close[^]*answered$`, "i"),
    );
    await closing;
  });

  it("closes idle connections, used and unused", async () => {
    const running = await start(() => text("ok"));
    const used = new RawClient(running.port);
    used.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await used.until(/ok$/);
    const unused = new RawClient(running.port);
    await new Promise((resolve) => void unused.socket.once("connect", resolve));
    await (await fetch(running.url)).text();
    await running.close();
    await Promise.all([used.closed, unused.closed]);
  });

  it("lets a slow client read a large response to its end", async () => {
    const size = 16_000_000;
    const running = await start(() => new Response(new Uint8Array(size)));
    const client = connect(running.port, "127.0.0.1");
    client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await once(client, "readable");
    const closing = running.close();
    await pause(1000);
    let received = 0;
    client.on("data", (chunk: Buffer) => void (received += chunk.length));
    await once(client, "close");
    expect(received).toBeGreaterThan(size);
    await closing;
  });

  it("closes a connection whose stream began before the stop", async () => {
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>({
      start: (given) => {
        controller = given;
        given.enqueue(Buffer.from("first"));
      },
    });
    const running = await start(() => new Response(body));
    const client = new RawClient(running.port);
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await client.until(/first/);
    const closing = running.close();
    controller?.enqueue(Buffer.from("last"));
    controller?.close();
    expect(await client.closed).toMatch(/last\r\n0\r\n\r\n$/);
    await closing;
  });

  it("waits for waitUntil promises, and reports those that reject", async () => {
    const release = Promise.withResolvers<void>();
    const log: string[] = [];
    const running = await start((_request, context) => {
      context.waitUntil(release.promise.then(() => log.push("done")));
      context.waitUntil(Promise.reject(new Error("background")));
      return text("ok");
    });
    await (await fetch(running.url)).text();
    const closing = running.close().then(() => log.push("closed"));
    release.resolve();
    await closing;
    expect(log).toEqual(["done", "closed"]);
    expect(reported).toEqual([new Error("background")]);
  });

  it("closes the remaining connections after the grace period", async () => {
    const started = Promise.withResolvers<AbortSignal>();
    const running = await start((_request, context) => {
      started.resolve(context.signal);
      return new Promise<Response>(() => undefined);
    });
    const client = new RawClient(running.port);
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    const signal = await started.promise;
    await running.close({ gracePeriod: 20 });
    expect(await client.closed).toBe("");
    expect(signal.aborted).toBe(true);
  });

  it("stops when its signal is aborted, and a second close does no harm", async () => {
    const controller = new AbortController();
    const running = await start(() => text("ok"), { signal: controller.signal });
    controller.abort();
    await running.finished;
    await running.close();
    await running[Symbol.asyncDispose]();
  });

  it("leaves no listener on the process", async () => {
    const before = process.listenerCount("SIGTERM");
    const running = await start(() => text("ok"), { signals: true });
    expect(process.listenerCount("SIGTERM")).toBe(before + 1);
    await running.close();
    expect(process.listenerCount("SIGTERM")).toBe(before);
  });
});

async function usedJson(): Promise<Response> {
  const response = json("used");
  await response.text();
  return response;
}

async function usedResponse(): Promise<Response> {
  const response = new Response("used");
  await response.text();
  return response;
}

function withBody(body: string | Uint8Array<ArrayBuffer>): Response {
  const taken = takeResponse(text(""));
  return replaceBody(taken, body, taken.headers);
}
