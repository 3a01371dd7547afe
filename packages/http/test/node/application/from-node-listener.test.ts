import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import express from "express";
import fastify from "fastify";
import Koa from "koa";
import { afterEach, describe, expect, it } from "vitest";
import {
  changeHeaders,
  createContext,
  deriveRequest,
  wrap,
  type Handler,
  type Middleware,
} from "../../../src/index.ts";
import {
  fromNodeListener,
  serve,
  toNodeListener,
  type NodeApplication,
} from "../../../src/node/index.ts";
import { exchange } from "../raw-client.ts";

// Every application has the same routes, each written as its framework has it.
const applications: [string, () => Promise<NodeApplication>][] = [
  ["Express 5", makeExpress],
  ["Koa 3", makeKoa],
  ["Fastify 5", makeFastify],
];

const stamp: Middleware = (next) => async (request, context) =>
  changeHeaders(await next(request, context), context, (headers) => headers.set("x-outer", "1"));

type Ask = (path: string, init?: RequestInit) => Promise<Response>;
const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Asks a handler without any socket. */
async function inMemory(handler: Handler): Promise<Ask> {
  return async (path, init) => {
    const request = new Request(new URL(path, "http://localhost"), init);
    return handler(request, createContext(request, { peer: "127.0.0.1" }));
  };
}

/** Asks a handler over a socket. */
async function overSocket(handler: Handler): Promise<Ask> {
  const server = await serve(handler, {
    port: 0,
    hostname: "127.0.0.1",
    signals: false,
    gracePeriod: 0,
  });
  closers.push(() => server.close({ gracePeriod: 0 }));
  return (path, init) => fetch(new URL(path, server.url), init);
}

const places: [string, typeof inMemory][] = [
  ["in memory", inMemory],
  ["over a socket", overSocket],
];
const cases = applications.flatMap(([name, make]) =>
  places.map(([place, open]) => [name, place, make, open] as const),
);

describe.each(cases)("%s in a middleware, %s", (_name, _place, make, open) => {
  const start = async (): Promise<Ask> => open(wrap(fromNodeListener(await make()), stamp));

  it("responds with its headers and the middleware's, and knows the client's address", async () => {
    const response = await (await start())("/info?x=1");
    expect(response.headers.get("x-outer")).toBe("1");
    expect(response.headers.get("content-type")).toMatch(/^application\/json/);
    expect(await response.json()).toEqual({ ip: "127.0.0.1", remote: "127.0.0.1", query: "1" });
  });

  it("reads a JSON body and keeps every Set-Cookie", async () => {
    const response = await (
      await start()
    )("/echo", {
      method: "POST",
      body: JSON.stringify({ name: "grüße" }),
      headers: { "content-type": "application/json" },
    });
    expect(response.status).toBe(201);
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect(await response.json()).toEqual({ name: "grüße" });
  });

  it("responds to HEAD, and with 204 and 304, without a body", async () => {
    const ask = await start();
    const head = await ask("/info?x=1", { method: "HEAD" });
    expect([head.status, head.body === null || (await head.text()) === ""]).toEqual([200, true]);
    expect(Number(head.headers.get("content-length"))).toBeGreaterThan(0);
    for (const status of [204, 304]) {
      const response = await ask(`/status/${status}`);
      expect([response.status, await response.text()]).toEqual([status, ""]);
      expect(response.headers.get("content-length") ?? "0").toBe("0");
    }
  });

  it("responds with its own 404, and with 500 when a route fails", async () => {
    const ask = await start();
    expect((await ask("/nowhere")).status).toBe(404);
    expect((await ask("/fail")).status).toBe(500);
  });

  it("sends events at once and stops them when the client leaves", async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    onEventsClosed = resolve;
    const response = await (await start())("/events");
    const reader = response.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("data: 1\n\n");
    await reader?.cancel();
    await closed;
  });

  it("sends a large body whole, and no faster than it is read", async () => {
    const response = await (await start())("/large");
    let length = 0;
    for await (const chunk of response.body ?? []) length += chunk.byteLength;
    expect(length).toBe(largeChunks * largeChunk.byteLength);
  });

  it("receives a large body whole", async () => {
    const response = await (
      await start()
    )("/count", { method: "POST", body: new Uint8Array(3_000_000) });
    expect(await response.text()).toBe("3000000");
  });
});

describe("a body of GET behind fromNodeListener()", () => {
  const bodyApp = (): express.Express => {
    const app = express();
    app.set("env", "test");
    app.use(express.json(), (request, response) => void response.json(request.body ?? "none"));
    return app;
  };
  const getWithBody =
    "GET / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nConnection: close\r\n" +
    'Content-Length: 7\r\n\r\n{"a":1}';

  it("reaches Express as it does without fromNodeListener()", async () => {
    const options = { port: 0, hostname: "127.0.0.1", signals: false, gracePeriod: 0 } as const;
    await using server = await serve(fromNodeListener(bodyApp()), options);
    const answer = await exchange(server.port, getWithBody);
    expect(answer).toMatch(/^HTTP\/1.1 200 [^]*\{"a":1\}$/);
    const chunked = getWithBody.replace(
      /Content-Length[^]*$/,
      "Transfer-Encoding: chunked\r\n\r\n",
    );
    expect(await exchange(server.port, `${chunked}7\r\n{"b":2}\r\n0\r\n\r\n`)).toMatch(
      /\{"b":2\}$/,
    );
  });

  it("is limited by maxRequestBodySize", async () => {
    const options = {
      port: 0,
      hostname: "127.0.0.1",
      signals: false,
      gracePeriod: 0,
      maxRequestBodySize: 5,
    };
    await using server = await serve(fromNodeListener(bodyApp()), options);
    const chunked = getWithBody.replace(
      /Content-Length[^]*$/,
      "Transfer-Encoding: chunked\r\n\r\n",
    );
    const answer = await exchange(server.port, `${chunked}7\r\n{"b":2}\r\n0\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 413 /);
  });

  it("is not announced when a middleware removed it, or when it cannot be read", async () => {
    const without: Middleware = (next) => (request, context) =>
      next(deriveRequest(request, { headers: { "content-length": null } }), context);
    const options = { port: 0, hostname: "127.0.0.1", signals: false, gracePeriod: 0 } as const;
    await using server = await serve(wrap(fromNodeListener(bodyApp()), without), options);
    expect(await exchange(server.port, getWithBody)).toMatch(/^HTTP\/1.1 200 [^]*"none"$/);
    const ask = await inMemory(fromNodeListener(bodyApp()));
    const headers = { "content-type": "application/json", "content-length": "7" };
    expect(await (await ask("/", { headers })).json()).toBe("none");
  });
});

describe("fromNodeListener()", () => {
  const ask = async (listener: NodeApplication, init?: RequestInit): Promise<Response> =>
    (await inMemory(fromNodeListener(listener)))("/a?b", init);

  it("rejects a listener that is not a function", () => {
    expect(() => fromNodeListener({} as never)).toThrow(
      expect.objectContaining({ code: "ERR_HTTP_HANDLER" }),
    );
  });

  it.each<[string, NodeApplication]>([
    ["throws", () => fail()],
    ["rejects", async () => fail()],
    [
      "destroys its response with an error",
      (_request, response) => response.destroy(new Error("broken")),
    ],
  ])("rejects when the application %s before the head", async (_how, listener) => {
    await expect(ask(listener)).rejects.toThrow("broken");
  });

  it("rejects when the application breaks off without an error", async () => {
    await expect(ask((request) => request.socket.destroy())).rejects.toMatchObject({
      code: "ERR_HTTP_LISTENER_CLOSED",
    });
  });

  it("fails the body when the application fails after the head", async () => {
    const response = await ask((_request, out) => {
      out.write("part");
      setImmediate(() => out.destroy(new Error("broken")));
    });
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow("broken");
  });

  it.each([100, 101, 103])("rejects when the final status is %d", async (status) => {
    const pending = ask((_request, out) => {
      out.statusCode = status;
      out.end();
    });
    await expect(pending).rejects.toMatchObject({ code: "ERR_HTTP_STATUS" });
  });

  it("lets the application write after the body was cancelled", async () => {
    let writeMore = (): void => undefined;
    const response = await ask((_request, out) => {
      out.write("part");
      writeMore = () => {
        out.write("more");
        out.end("end");
      };
    });
    void response.body?.cancel();
    expect(writeMore).not.toThrow();
  });

  it("applies backpressure when the body is not read: write() returns false, and drain follows", async () => {
    const drained = Promise.withResolvers<void>();
    let writes = 0;
    const response = await ask((_request, out) => {
      out.once("drain", () => {
        drained.resolve();
        out.end();
      });
      do writes += 1;
      while (out.write(new Uint8Array(16_384)));
    });
    expect(writes).toBe(4);
    expect((await response.bytes()).byteLength).toBe(4 * 16_384);
    await drained.promise;
  });

  it("closes the application's request when the client has left", async () => {
    const controller = new AbortController();
    const events: string[] = [];
    const done = Promise.withResolvers<void>();
    const pending = ask(
      (request, response) => {
        request.on("aborted", () => events.push("aborted"));
        request.on("error", (error) => events.push(error.message));
        response.on("close", () => {
          events.push("close");
          done.resolve();
        });
        controller.abort();
      },
      { signal: controller.signal },
    );
    await expect(pending).rejects.toMatchObject({ name: "AbortError" });
    await done.promise;
    expect(events.toSorted()).toEqual(["aborted", "aborted", "close"]);
  });

  it("rejects at once for a client that left before", async () => {
    let calls = 0;
    const request = new Request("http://a/", { signal: AbortSignal.abort() });
    const handler = fromNodeListener(() => {
      calls += 1;
    });
    await expect(handler(request, createContext(request))).rejects.toMatchObject({
      name: "AbortError",
    });
    expect(calls).toBe(0);
  });

  it.each<[string, (out: ServerResponse) => void]>([
    ["an object", (out) => out.writeHead(202, { "X-A": "1", "Set-Cookie": ["a", "b"] })],
    [
      "a flat list",
      (out) => out.writeHead(202, ["X-A", "1", "Set-Cookie", "a", "Set-Cookie", "b"]),
    ],
    [
      "a reason and an object",
      (out) => out.writeHead(202, "Taken", { "x-a": 1, "set-cookie": ["a", "b"] }),
    ],
    [
      "setHeader before",
      (out) => out.setHeader("X-A", "0").writeHead(202, { "x-a": "1", "set-cookie": ["a", "b"] }),
    ],
  ])("accepts headers of writeHead() as %s", async (_what, write) => {
    const response = await ask((_request, out) => {
      write(out);
      out.end("x");
    });
    expect([response.status, response.headers.get("x-a")]).toEqual([202, "1"]);
    expect(response.headers.getSetCookie()).toEqual(["a", "b"]);
  });

  it("rejects a chunk that is neither text nor bytes", async () => {
    await expect(ask((_request, out) => out.end(5))).rejects.toMatchObject({
      code: "ERR_HTTP_RESPONSE",
    });
  });

  it("drops trailers and headers of the connection", async () => {
    const response = await ask((_request, out) => {
      out.writeHead(200, {
        connection: "close",
        "transfer-encoding": "chunked",
        trailer: "x-t",
        "x-a": "1",
      });
      out.write("body");
      out.addTrailers({ "x-t": "1" });
      out.end();
    });
    expect([...response.headers]).toEqual([["x-a", "1"]]);
    expect(await response.text()).toBe("body");
  });

  it("emits finish and close, calls back, and accepts encodings", async () => {
    const events: string[] = [];
    const closed = Promise.withResolvers<void>();
    const response = await ask((_request, out) => {
      for (const name of ["prefinish", "finish", "close"]) out.on(name, () => events.push(name));
      out.on("close", () => closed.resolve());
      out.write("6869", "hex", () => events.push("written"));
      out.end(() => events.push("ended"));
    });
    expect(await response.text()).toBe("hi");
    await closed.promise;
    expect(events.toSorted()).toEqual(["close", "ended", "finish", "prefinish", "written"]);
  });

  it("works for a listener that toNodeListener() made", async () => {
    const listener = toNodeListener(
      async (request) => new Response(`${request.method} ${await request.text()}`),
    );
    const response = await ask(listener, { method: "POST", body: "inner" });
    expect(await response.text()).toBe("POST inner");
  });
});

describe("toNodeListener()", () => {
  it("rejects invalid arguments", () => {
    expect(() => toNodeListener(1 as never)).toThrow(
      expect.objectContaining({ code: "ERR_HTTP_HANDLER" }),
    );
    expect(() => toNodeListener(() => new Response(), { maxRequestBodySize: -1 })).toThrow(
      expect.objectContaining({ code: "ERR_HTTP_OPTION" }),
    );
  });

  it("explains that a parser has read the body before, and keeps its headers", async () => {
    const reported: unknown[] = [];
    const lengths: (string | null)[] = [];
    const read: Handler = async (request) => {
      lengths.push(request.headers.get("content-length"));
      return new Response(await request.text());
    };
    const options = { reportError: (error: unknown) => reported.push(error) };
    const app = express().use(express.json(), toNodeListener(read, options));
    const server = createServer(app);
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    closers.push(async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    });
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    expect(response.status).toBe(500);
    expect(lengths).toEqual(["2"]);
    expect(reported).toMatchObject([
      { code: "ERR_HTTP_BODY_USED", message: expect.stringContaining("express.json()") },
    ]);
  });

  it.each<[string, () => (request: IncomingMessage, response: ServerResponse) => void]>([
    ["of http.createServer", () => toNodeListener(greet)],
    ["behind Express", () => express().use(toNodeListener(greet))],
  ])("makes a listener %s", async (_where, make) => {
    const server = createServer(make());
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    closers.push(async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    });
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const response = await fetch(`http://127.0.0.1:${port}/x`, { method: "POST", body: "you" });
    expect([response.status, await response.text()]).toEqual([201, "hello you from 127.0.0.1"]);
  });
});

const greet: Handler = async (request, context) =>
  new Response(`hello ${await request.text()} from ${context.peer}`, { status: 201 });

let onEventsClosed: () => void = () => undefined;
const largeChunk = new Uint8Array(100_000);
const largeChunks = 50;

function fail(): never {
  throw new Error("broken");
}

/** Writes events until the connection ends; plain Node, as applications do it. */
function writeEvents(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
  response.write("data: 1\n\n");
  const closed = onEventsClosed;
  response.on("close", () => closed());
}

function largeBody(): ReadableStream<Uint8Array> {
  let count = 0;
  return new ReadableStream({
    pull(controller) {
      count += 1;
      if (count > largeChunks) controller.close();
      else controller.enqueue(largeChunk);
    },
  });
}

async function countBytes(request: AsyncIterable<Uint8Array>): Promise<string> {
  let length = 0;
  for await (const chunk of request) length += chunk.byteLength;
  return String(length);
}

async function makeExpress(): Promise<NodeApplication> {
  const { Readable } = await import("node:stream");
  const app = express();
  app.set("env", "test");
  app.get("/info", (request, response) => {
    response.json({
      ip: request.ip,
      remote: request.socket.remoteAddress,
      query: request.query["x"],
    });
  });
  app.post("/echo", express.json(), (request, response) => {
    response.cookie("a", "1", { path: "" }).append("set-cookie", "b=2").status(201);
    response.json(request.body).set({});
  });
  app.get(
    "/status/:status",
    (request, response) => void response.status(Number(request.params.status)).end(),
  );
  app.get("/fail", () => fail());
  app.get("/events", (_request, response) => writeEvents(response));
  app.get("/large", (_request, response) => void Readable.from(largeBody()).pipe(response));
  app.post("/count", (request, response, next) => {
    countBytes(request).then((count) => response.send(count), next);
  });
  return app;
}

async function makeKoa(): Promise<NodeApplication> {
  const { Readable } = await import("node:stream");
  const app = new Koa();
  app.silent = true;
  app.use(async (context) => {
    const status = /^\/status\/(\d+)$/.exec(context.path)?.[1];
    if (status !== undefined) context.status = Number(status);
    else if (context.path === "/info") {
      context.body = {
        ip: context.ip,
        remote: context.req.socket.remoteAddress,
        query: context.query["x"],
      };
    } else if (context.path === "/echo") {
      context.set("set-cookie", ["a=1", "b=2"]);
      context.status = 201;
      context.body = JSON.parse(Buffer.concat(await Array.fromAsync(context.req)).toString());
    } else if (context.path === "/fail") fail();
    else if (context.path === "/events") {
      context.respond = false;
      writeEvents(context.res);
    } else if (context.path === "/large") context.body = Readable.from(largeBody());
    else if (context.path === "/count") context.body = await countBytes(context.req);
  });
  return app.callback();
}

async function makeFastify(): Promise<NodeApplication> {
  const { Readable } = await import("node:stream");
  const app = fastify();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  app.get<{ Querystring: { x: string } }>("/info", (request) => ({
    ip: request.ip,
    remote: request.socket.remoteAddress,
    query: request.query.x,
  }));
  app.post("/echo", (request, reply) =>
    reply.code(201).header("set-cookie", "a=1").header("set-cookie", "b=2").send(request.body),
  );
  app.get<{ Params: { status: string } }>("/status/:status", (request, reply) =>
    reply.code(Number(request.params.status)).send(),
  );
  app.get("/fail", () => fail());
  app.get("/events", (_request, reply) => {
    reply.hijack();
    writeEvents(reply.raw);
  });
  app.get("/large", (_request, reply) => reply.send(Readable.from(largeBody())));
  app.post("/count", (request) => countBytes(request.raw));
  await app.ready();
  return (request, response) => app.routing(request, response);
}
