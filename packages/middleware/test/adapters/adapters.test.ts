import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { constants, createGunzip } from "node:zlib";
import { exposedResponse, text, wrap, type Handler, type Middleware } from "@fetchwork/http";
import { fromNodeListener, serve } from "@fetchwork/http/serve";
import express from "express";
import fastify from "fastify";
import { H3, HTTPError, toResponse } from "h3";
import { Hono } from "hono";
import Koa from "koa";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  addServerTiming,
  bearer,
  cacheControl,
  compress,
  cors,
  decodeJSON,
  deprecation,
  gzip,
  headers,
  noCache,
  recoverer,
  requestHeaders,
  retry,
  secure,
  serverTiming,
  sunset,
  timeout,
  toH3,
  toHono,
  trace,
} from "../../src/index.ts";

const lorem = "Lorem ipsum dolor sit amet, consectetur adipiscing elit. ".repeat(100);
const html = "text/html; charset=utf-8";
const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Events of the route `/events`, and what became of it; one per test. */
interface EventSource {
  send: (event: string) => void;
  readonly closed: Promise<void>;
  readonly close: () => void;
}

// Fastify sends no head before the first bytes.
const opening = ": open\n\n";

function makeSource(): EventSource {
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  return { send: () => undefined, closed, close };
}

function webEvents(source: EventSource): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      source.send = (event) => controller.enqueue(new TextEncoder().encode(event));
      source.send(opening);
    },
    cancel: () => source.close(),
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

function nodeEvents(source: EventSource): Readable {
  const events = new Readable({ read: () => undefined });
  source.send = (event) => void events.push(event);
  source.send(opening);
  events.once("close", () => source.close());
  return events;
}

type Make = (source: EventSource, middlewares: readonly Middleware[]) => Promise<Handler>;

const plain: Make = async (source, middlewares) => {
  const handler: Handler = (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/text") return text(lorem, { headers: { "content-type": html } });
    if (pathname === "/in") return text(request.headers.get("x-in") ?? "none");
    if (pathname === "/events") return webEvents(source);
    if (pathname === "/slow") return new Promise(() => undefined);
    if (pathname === "/boom") throw new Error("boom");
    return text("no such page", { status: 404 });
  };
  return wrap(handler, ...middlewares);
};

function honoApp(source: EventSource, middlewares: readonly Middleware[]): Hono {
  const app = new Hono();
  for (const middleware of middlewares) app.use(toHono(middleware));
  app.get("/text", (c) => c.html(lorem));
  app.get("/in", (c) => c.text(c.req.header("x-in") ?? "none"));
  app.get("/events", () => webEvents(source));
  app.get("/slow", () => new Promise(() => undefined));
  app.get("/boom", () => {
    throw new Error("boom");
  });
  app.onError((_error, c) => c.text("Internal Server Error\n", 500));
  return app;
}

const honoUse: Make = async (source, middlewares) => {
  const app = honoApp(source, middlewares);
  return (request, context) => app.fetch(request, context);
};

const honoAlone: Make = async (source, middlewares) => {
  const app = honoApp(source, middlewares);
  return (request) => app.fetch(request);
};

function h3App(source: EventSource, middlewares: readonly Middleware[] = []): H3 {
  const app = new H3({ silent: true });
  for (const middleware of middlewares) app.use(toH3(middleware, { toResponse }));
  app.get("/text", ({ res }) => {
    res.headers.set("content-type", html);
    return lorem;
  });
  app.get("/in", ({ req }) => req.headers.get("x-in") ?? "none");
  app.get("/events", () => webEvents(source));
  app.get("/slow", () => new Promise(() => undefined));
  app.get("/boom", () => {
    throw new Error("boom");
  });
  return app;
}

const h3: Make = async (source, middlewares) => {
  const app = h3App(source);
  return wrap((request) => app.fetch(request), ...middlewares);
};

const h3Use: Make = async (source, middlewares) => {
  const app = h3App(source, middlewares);
  return (request, exchange) => app.request(request, undefined, { exchange });
};

const h3Alone: Make = async (source, middlewares) => {
  const app = h3App(source, middlewares);
  return (request) => app.fetch(request);
};

const express5: Make = async (source, middlewares) => {
  const app = express().disable("etag");
  app.get("/text", (_request, response) => void response.type("html").send(lorem));
  app.get("/in", (request, response) => void response.send(request.get("x-in") ?? "none"));
  app.get("/events", (_request, response) => {
    response.type("text/event-stream").flushHeaders();
    nodeEvents(source).pipe(response).once("close", source.close);
  });
  app.get("/slow", () => undefined);
  app.get("/boom", () => {
    throw new Error("boom");
  });
  app.use(((_error, _request, response, _next) => {
    response.status(500).send("Internal Server Error\n");
  }) satisfies express.ErrorRequestHandler);
  return wrap(fromNodeListener(app), ...middlewares);
};

const koa3: Make = async (source, middlewares) => {
  const app = new Koa();
  app.silent = true;
  app.use(async (context) => {
    if (context.path === "/text") {
      context.type = html;
      context.body = lorem;
    } else if (context.path === "/in") {
      context.body = context.get("x-in") === "" ? "none" : context.get("x-in");
    } else if (context.path === "/events") {
      context.type = "text/event-stream";
      context.body = nodeEvents(source);
      context.flushHeaders();
    } else if (context.path === "/slow") {
      await new Promise(() => undefined);
    } else if (context.path === "/boom") {
      throw new Error("boom");
    }
  });
  return wrap(fromNodeListener(app.callback()), ...middlewares);
};

const fastify5: Make = async (source, middlewares) => {
  const app = fastify();
  app.get("/text", (_request, reply) => reply.type(html).send(lorem));
  app.get("/in", (request, reply) => reply.send(request.headers["x-in"] ?? "none"));
  app.get("/events", (_request, reply) => reply.type("text/event-stream").send(nodeEvents(source)));
  app.get("/slow", () => new Promise(() => undefined));
  app.get("/boom", async () => {
    throw new Error("boom");
  });
  await app.ready();
  closers.push(async () => {
    await app.close();
  });
  return wrap(
    fromNodeListener((request, response) => app.routing(request, response)),
    ...middlewares,
  );
};

const places: [string, Make][] = [
  ["serve", plain],
  ["Hono, in app.use", honoUse],
  ["Hono, in app.use, without our context", honoAlone],
  ["h3 2", h3],
  ["h3 2, in app.use", h3Use],
  ["h3 2, in app.use, without our context", h3Alone],
  ["Express 5", express5],
  ["Koa 3", koa3],
  ["Fastify 5", fastify5],
];

interface Opened {
  readonly url: string;
  readonly source: EventSource;
  readonly ask: (path: string, init?: RequestInit) => Promise<Response>;
}

async function open(make: Make, ...middlewares: readonly Middleware[]): Promise<Opened> {
  const source = makeSource();
  const handler = await make(source, middlewares);
  const options = { port: 0, hostname: "127.0.0.1", signals: false, reportError: () => undefined };
  const server = await serve(handler, options);
  closers.push(() => server.close({ gracePeriod: 0 }));
  return {
    url: server.url,
    source,
    ask: (path, init) => fetch(new URL(path, server.url), init),
  };
}

describe.each(places)("under %s", (name, make) => {
  it("headers, secure, deprecation, sunset and noCache set headers", async () => {
    const date = new Date("2026-01-01T00:00:00Z");
    const { ask } = await open(
      make,
      headers("x-outer: 1"),
      secure(),
      deprecation("1", date),
      sunset(date),
      noCache(),
    );
    const response = await ask("/text", { headers: { "if-none-match": "*" } });
    expect([response.status, await response.text()]).toEqual([200, lorem]);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "x-outer": "1",
      "x-frame-options": "DENY",
      deprecation: 'version="1", date="2026-01-01T00:00:00Z"',
      sunset: "Thu, 01 Jan 2026 00:00:00 GMT",
      pragma: "no-cache",
    });
  });

  it("requestHeaders reach the handler", async () => {
    const { ask } = await open(make, requestHeaders({ "x-in": "changed" }));
    expect(await (await ask("/in", { headers: { "x-in": "sent" } })).text()).toBe("changed");
  });

  it("bearer() is refused, because it protects nothing", async () => {
    const { ask } = await open(make, bearer("t"));
    expect((await ask("/in")).status).toBe(500);
  });

  it("cacheControl() responds with 304 without the handler", async () => {
    const { ask } = await open(make, cacheControl(60, "v1"));
    const first = await ask("/text");
    await first.text();
    const etag = first.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[\da-f]{40}"$/);
    const second = await ask("/text", { headers: { "if-none-match": `W/${etag}` } });
    expect([second.status, await second.text(), second.headers.get("etag")]).toEqual([
      304,
      "",
      etag,
    ]);
  });

  it("cors answers a preflight and a request", async () => {
    const { ask } = await open(make, cors({ allowedOrigins: ["https://a.example"] }));
    const origin = "https://a.example";
    const preflight = await ask("/text", {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "PUT" },
    });
    expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([
      204,
      origin,
    ]);
    const actual = await ask("/text", { headers: { origin } });
    await actual.text();
    expect(actual.headers.get("access-control-allow-origin")).toBe(origin);
    expect(actual.headers.get("vary")).toMatch(/Origin/);
  });

  it.each([
    ["gzip", gzip()],
    ["zstd", compress()],
  ])("compresses with %s, also HEAD", async (coding, middleware) => {
    const { ask } = await open(make, middleware);
    const init = { headers: { "accept-encoding": "gzip, zstd" } };
    const response = await ask("/text", init);
    expect(response.headers.get("content-encoding")).toBe(coding);
    expect(response.headers.get("vary")).toMatch(/Accept-Encoding/);
    expect(await response.text()).toBe(lorem);
    const head = await ask("/text", { ...init, method: "HEAD" });
    expect([head.status, head.headers.get("content-encoding"), await head.text()]).toEqual([
      200,
      coding,
      "",
    ]);
  });

  it("an event reaches the client at once through compress, and an abort the handler", async () => {
    const { url, source } = await open(make, headers("x-outer:1"), compress());
    const request = httpRequest(`${url}events`, { headers: { "accept-encoding": "gzip" } }).end();
    // `once` resolves to what the event is emitted with.
    const [response] = (await once(request, "response")) as [IncomingMessage];
    expect(response.headers["content-encoding"]).toBe("gzip");
    const gunzip = createGunzip({ flush: constants.Z_SYNC_FLUSH });
    for (const stream of [response, gunzip]) stream.on("error", () => undefined);
    response.pipe(gunzip);
    expect(String(await once(gunzip, "data"))).toBe(opening);
    for (let index = 0; index < 3; index += 1) {
      const arrived = once(gunzip, "data");
      source.send(`data: ${index}\n\n`);
      expect(String(await arrived)).toBe(`data: ${index}\n\n`);
    }
    response.destroy();
    await source.closed;
  });

  it("timeout() responds with 504", async () => {
    const { ask } = await open(make, timeout(50));
    expect((await ask("/slow")).status).toBe(504);
    expect(await (await ask("/text")).text()).toBe(lorem);
  });

  it("an error is a 500, and recoverer logs it where the application does not", async () => {
    const log = vi.fn();
    const { ask } = await open(make, secure(), recoverer({ log }));
    const response = await ask("/boom");
    await response.text();
    expect([response.status, response.headers.get("x-frame-options")]).toEqual([500, "DENY"]);
    expect(log).toHaveBeenCalledTimes(name === "serve" ? 2 : 0);
  });

  it("serverTiming sends what an inner middleware measured", async () => {
    const measure: Middleware = (next) => (request, context) => {
      addServerTiming(context, "inner", { duration: 1 });
      return next(request, context);
    };
    const { ask } = await open(make, serverTiming(), measure);
    const response = await ask("/text");
    await response.text();
    expect(response.headers.get("server-timing")).toMatch(/^inner;dur=1, total;dur=/);
  });

  it("finish listeners are called at the end", async () => {
    const { promise: finished, resolve } = Promise.withResolvers<number>();
    const listen: Middleware = (next) => (request, context) => {
      context.onFinish(({ bytes }) => resolve(bytes));
      return next(request, context);
    };
    const { ask } = await open(make, listen);
    await (await ask("/text")).text();
    expect(await finished).toBe(lorem.length);
  });

  it("is reached by retry around fetch", async () => {
    const { url } = await open(make);
    const api = wrap(fetch, retry());
    expect(await (await api(new Request(`${url}text`))).text()).toBe(lorem);
  });
});

describe("an application of a framework inside of the middlewares", () => {
  it("Hono responds with what exposedResponse makes of an error", async () => {
    const app = new Hono();
    app.onError((error) => exposedResponse(error) ?? text("failed", { status: 500 }));
    app.post("/text", async (c) => c.text(await c.req.text()));
    app.post("/json", async (c) => c.json({ received: await decodeJSON(c.req.raw) }));
    app.post("/boom", () => {
      throw new Error("secret");
    });
    const server = await serve(wrap(app.fetch, recoverer()), { port: 0, hostname: "127.0.0.1" });
    closers.push(() => server.close());
    const statusOf = async (path: string, body: string): Promise<number> => {
      const response = await fetch(`${server.url}${path}`, { method: "POST", body });
      await response.text();
      return response.status;
    };
    expect(await statusOf("text", "x".repeat(1_048_577))).toBe(413);
    expect(await statusOf("json", "{")).toBe(400);
    expect(await statusOf("boom", "")).toBe(500);
  });

  it("Express sees the identifier of trace with forward, never an unacceptable one", async () => {
    const app = express();
    app.post("/", express.json(), ({ headers: { "x-request-id": id }, body }, response) => {
      response.json({ id, body });
    });
    const handler = wrap(fromNodeListener(app), trace({ forward: true }));
    const server = await serve(handler, { port: 0, hostname: "127.0.0.1" });
    closers.push(() => server.close());
    const ask = (id: string): Promise<Response> =>
      fetch(server.url, {
        method: "POST",
        body: '{"a":1}',
        headers: { "content-type": "application/json", "x-request-id": id },
      });
    expect(await (await ask("good-one")).json()).toEqual({ id: "good-one", body: { a: 1 } });
    const response = await ask('bad"one');
    const id = response.headers.get("x-request-id");
    expect(id).toMatch(/^[0-9a-f]{40}$/);
    expect(await response.json()).toEqual({ id, body: { a: 1 } });
  });
});

describe("toH3", () => {
  it("refuses what is not a function", () => {
    for (const [middleware, options] of [
      [7, { toResponse }],
      [gzip(), { toResponse: "h3" }],
      [gzip(), { toResponse, peer: "1.2.3.4" }],
    ]) {
      expect(() => Reflect.apply(toH3, undefined, [middleware, options])).toThrow(
        expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }),
      );
    }
  });

  it("leaves h3 its hooks, its headers and its 404, each once", async () => {
    const seen: string[] = [];
    const app = new H3({
      silent: true,
      onResponse: ({ status }) => void seen.push(`response ${status}`),
      onError: ({ status }) => void seen.push(`error ${status}`),
    });
    app.use(toH3(secure(), { toResponse }));
    app.get("/cookie", ({ res }) => {
      res.headers.append("set-cookie", "a=1");
      return { a: 1 };
    });
    app.get("/gone", () => {
      throw HTTPError.status(410);
    });
    const cookie = await app.request("/cookie");
    expect([await cookie.json(), cookie.headers.getSetCookie()]).toEqual([{ a: 1 }, ["a=1"]]);
    const statuses = [(await app.request("/gone")).status, (await app.request("/none")).status];
    expect(statuses).toEqual([410, 404]);
    expect(seen).toEqual([
      "response 200",
      "error 410",
      "response 410",
      "error 404",
      "response 404",
    ]);
  });

  it("passes the address that the option finds, and the end of the body", async () => {
    const { promise: finished, resolve } = Promise.withResolvers<string>();
    const listen: Middleware = (next) => (request, context) => {
      context.onFinish(({ bytes }) => resolve(`${context.ip} ${bytes}`));
      return next(request, context);
    };
    const app = new H3().use(toH3(listen, { toResponse, peer: () => "192.0.2.1" }));
    app.get("/", () => new Blob(["four"]).stream());
    expect(await (await app.request("/")).text()).toBe("four");
    expect(await finished).toBe("192.0.2.1 4");
  });
});
