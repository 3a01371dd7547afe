import { once } from "node:events";
import { createServer, request as httpRequest, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { gunzipSync } from "node:zlib";
import type { FinishReport, Middleware } from "@fetchwork/http";
import { deriveRequest } from "@fetchwork/http";
import express from "express";
import fastify from "fastify";
import Koa from "koa";
import { afterEach, describe, expect, it } from "vitest";
import {
  basicAuthWithUserPasswd,
  cacheControl,
  compress,
  cors,
  headers,
  ping,
  realIp,
  requestHeaders,
  secure,
  sizeLimit,
  stripSlashes,
  timeout,
  trace,
} from "../../../src/index.ts";
import { expressContext, toExpress } from "../../../src/node/adapters/express.ts";
import { fastifyContext, toFastify } from "../../../src/node/adapters/fastify.ts";
import { koaContext, toKoa } from "../../../src/node/adapters/koa.ts";

const lorem = "Lorem ipsum dolor sit amet, consectetur adipiscing elit. ".repeat(100);
const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Events of the route `/events`. */
interface EventSource {
  send: (event: string) => void;
  readonly closed: PromiseWithResolvers<void>;
}

function events(source: EventSource): Readable {
  const stream = new Readable({ read: () => undefined });
  source.send = (event) => void stream.push(event);
  source.send(": open\n\n");
  stream.once("close", () => source.closed.resolve());
  return stream;
}

function bigStream(): Readable {
  return Readable.from(
    (function* () {
      for (let index = 0; index < 100; index += 1) yield Buffer.alloc(20_000, 97 + (index % 26));
    })(),
  );
}

type MakeServer = (layers: readonly Middleware[], source: EventSource) => Promise<Server>;

async function listen(server: Server): Promise<Server> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

const express5: MakeServer = (layers, source) => {
  const app = express();
  for (const layer of layers) app.use(toExpress(layer));
  app.get("/text", (_request, response) => void response.type("text").send(lorem));
  app.get("/later", (_request, response) => {
    setImmediate(() => response.type("text").send("later"));
  });
  app.get("/in", (request, response) => {
    response.send(`${request.get("x-in") ?? "none"} ${request.ip}`);
  });
  app.post("/echo", express.text({ type: "*/*", limit: "10mb" }), (request, response) => {
    response.type("text").send(String(request.body));
  });
  app.get("/empty", (_request, response) => void response.status(204).end());
  app.get("/big", (_request, response) => void bigStream().pipe(response.type("text")));
  app.get("/events", (_request, response) => {
    response.type("text/event-stream");
    const stream = events(source);
    stream.pipe(response);
    response.once("close", () => stream.destroy());
  });
  app.get("/slow", () => undefined);
  app.get("/boom", () => {
    throw new Error("boom");
  });
  const silent: express.ErrorRequestHandler = (
    error: { status?: number },
    _request,
    response,
    _next,
  ) => {
    response.status(error.status ?? 500).send("failed");
  };
  app.use(silent);
  return listen(createServer(app));
};

const fastify5: MakeServer = async (layers, source) => {
  const app = fastify({ bodyLimit: 10_000_000 });
  for (const layer of layers) app.addHook("onRequest", toFastify(layer));
  app.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) => done(null, body));
  app.get("/text", (_request, reply) => void reply.type("text/plain").send(lorem));
  app.get("/later", (_request, reply) => {
    setImmediate(() => void reply.type("text/plain").send("later"));
  });
  app.get("/in", (request, reply) => {
    void reply.send(`${String(request.headers["x-in"] ?? "none")} ${request.ip}`);
  });
  app.post("/echo", (request, reply) => void reply.type("text/plain").send(String(request.body)));
  app.get("/empty", (_request, reply) => void reply.code(204).send());
  app.get("/big", (_request, reply) => void reply.type("text/plain").send(bigStream()));
  app.get("/events", (_request, reply) => {
    void reply.type("text/event-stream").send(events(source));
  });
  app.get("/slow", () => new Promise(() => undefined));
  app.get("/boom", () => {
    throw new Error("boom");
  });
  await app.listen({ port: 0, host: "127.0.0.1" });
  return app.server;
};

const koa3: MakeServer = (layers, source) => {
  const app = new Koa();
  app.silent = true;
  for (const layer of layers) app.use(toKoa(layer));
  app.use(async (ctx) => {
    if (ctx.path === "/text") ctx.body = lorem;
    else if (ctx.path === "/later") {
      await new Promise((resolve) => setImmediate(resolve));
      ctx.body = "later";
    } else if (ctx.path === "/in") ctx.body = `${ctx.get("x-in") || "none"} ${ctx.ip}`;
    else if (ctx.path === "/echo")
      ctx.body = Buffer.concat(await Array.fromAsync(ctx.req)).toString();
    else if (ctx.path === "/empty") ctx.status = 204;
    else if (ctx.path === "/big") {
      ctx.type = "text";
      ctx.body = bigStream();
    } else if (ctx.path === "/events") {
      ctx.type = "text/event-stream";
      ctx.body = events(source);
    } else if (ctx.path === "/slow") await new Promise(() => undefined);
    else if (ctx.path === "/boom") throw new Error("boom");
  });
  const listener = app.callback();
  return listen(createServer((request, response) => void listener(request, response)));
};

interface Client {
  get(
    path: string,
    headers?: Record<string, string>,
    method?: string,
  ): Promise<{
    status: number;
    headers: IncomingMessage["headers"];
    trailers: IncomingMessage["trailers"];
    body: Buffer;
  }>;
  post(path: string, body: string): Promise<{ status: number; text: string }>;
  readonly port: number;
  readonly source: EventSource;
}

async function start(make: MakeServer, ...layers: readonly Middleware[]): Promise<Client> {
  const source: EventSource = { send: () => undefined, closed: Promise.withResolvers<void>() };
  const server = await make(layers, source);
  closers.push(
    () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(resolve);
      }),
  );
  const { port } = server.address() as AddressInfo;
  return {
    port,
    source,
    get: async (path, fields = {}, method = "GET") => {
      const request = httpRequest({ port, host: "127.0.0.1", path, headers: fields, method }).end();
      const [response] = (await once(request, "response")) as [IncomingMessage];
      const body = Buffer.concat(await Array.fromAsync(response as AsyncIterable<Buffer>));
      const { statusCode: status = 0, headers: received, trailers } = response;
      return { status, headers: received, trailers, body };
    },
    post: async (path, body) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", body });
      return { status: response.status, text: await response.text() };
    },
  };
}

/** Records how each exchange ended. */
function recorder(reports: FinishReport[]): Middleware {
  return (next) => (request, context) => {
    context.onFinish((report) => reports.push(report));
    return next(request, context);
  };
}

const readAll: Middleware = (next) => async (request, context) => {
  const body = await request.text();
  return next(deriveRequest(request, { body: body.toUpperCase() }), context);
};

const awaiting: Middleware = (next) => async (request, context) => {
  const response = await next(request, context);
  await new Promise((resolve) => setImmediate(resolve));
  return response;
};

describe.each([
  { name: "toExpress()", make: express5 },
  { name: "toFastify()", make: fastify5 },
  { name: "toKoa()", make: koa3 },
])("$name", ({ name, make }) => {
  const origin = "https://app.example.com";

  it("lets middlewares add headers to responses that come at once and later", async () => {
    const { get } = await start(make, cors({ allowedOrigins: [origin] }), secure(), trace());
    for (const path of ["/text", "/later"]) {
      const { status, headers: sent, body } = await get(path, { origin });
      expect(status).toBe(200);
      expect(sent["access-control-allow-origin"]).toBe(origin);
      expect(sent["x-frame-options"]).toBe("DENY");
      expect(sent["x-request-id"]).toBeDefined();
      expect(sent["content-length"]).toBe(String(body.length));
      expect(body.toString()).toBe(path === "/text" ? lorem : "later");
    }
  });

  it("lets a middleware respond without asking the framework", async () => {
    const { get } = await start(make, secure(), ping(), cors({ allowedOrigins: [origin] }));
    const pong = await get("/ping");
    expect([pong.status, pong.body.toString()]).toEqual([200, "pong"]);
    expect(pong.headers["x-frame-options"]).toBe("DENY");
    const preflight = await get(
      "/text",
      { origin, "access-control-request-method": "PUT" },
      "OPTIONS",
    );
    expect(preflight.status).toBe(204);
    expect(preflight.headers["access-control-allow-methods"]).toContain("PUT");
    expect(preflight.headers["x-frame-options"]).toBe("DENY");
  });

  it("lets a guard refuse with its challenge, inside of other middlewares", async () => {
    const { get } = await start(make, secure(), basicAuthWithUserPasswd("anna", "secret"));
    const refused = await get("/text");
    expect([refused.status, refused.headers["content-length"]]).toEqual([401, "0"]);
    expect(refused.headers["x-frame-options"]).toBe("DENY");
    const authorization = `Basic ${btoa("anna:secret")}`;
    expect((await get("/text", { authorization })).status).toBe(200);
  });

  it("shows a changed request and the address of the client to the framework", async () => {
    const { get } = await start(
      make,
      realIp({ trustedProxies: ["127.0.0.1"] }),
      requestHeaders({ "X-In": "yes" }),
    );
    const { body } = await get("/in", { "x-forwarded-for": "203.0.113.9" });
    expect(body.toString()).toBe("yes 203.0.113.9");
  });

  it("gives the framework a body that a middleware has read or replaced", async () => {
    const { post } = await start(make, sizeLimit(100_000), readAll);
    expect(await post("/echo", "hello")).toEqual({ status: 200, text: "HELLO" });
    const large = "x".repeat(90_000);
    expect(await post("/echo", large)).toEqual({ status: 200, text: large.toUpperCase() });
    expect((await post("/echo", "x".repeat(100_001))).status).toBe(413);
  });

  it("compresses whole bodies and streams", async () => {
    const { get } = await start(make, secure(), compress({ encodings: ["gzip"] }));
    const whole = await get("/text", { "accept-encoding": "gzip" });
    expect(whole.headers["content-encoding"]).toBe("gzip");
    expect(whole.headers["content-length"]).toBe(String(whole.body.length));
    expect(gunzipSync(whole.body).toString()).toBe(lorem);
    expect(whole.headers["x-frame-options"]).toBe("DENY");
    const big = await get("/big", { "accept-encoding": "gzip" });
    expect(gunzipSync(big.body)).toHaveLength(2_000_000);
    expect(big.headers["content-length"]).toBeUndefined();
  });

  it("passes a stream through untouched when only headers change", async () => {
    const { get } = await start(make, secure(), headers({ "x-a": "b" }));
    const { body, headers: sent } = await get("/big");
    expect(body).toHaveLength(2_000_000);
    expect(sent["x-a"]).toBe("b");
  });

  it("responds to HEAD with the headers of GET and without a body", async () => {
    const { get } = await start(make, secure(), compress({ encodings: ["gzip"] }));
    const { status, headers: sent, body } = await get("/text", {}, "HEAD");
    expect([status, body.length]).toEqual([200, 0]);
    expect(sent["x-frame-options"]).toBe("DENY");
    expect(sent["content-length"]).toBe(String(lorem.length));
  });

  it("keeps a 204 without a body", async () => {
    const { get } = await start(make, secure(), compress());
    const { status, headers: sent, body } = await get("/empty");
    expect([status, body.length]).toEqual([204, 0]);
    expect(sent["content-length"]).toBeUndefined();
  });

  it("lets a middleware turn the response into a 304", async () => {
    const { get } = await start(make, cacheControl(60, "1"));
    const { headers: sent } = await get("/text");
    const { status, body } = await get("/text", { "if-none-match": String(sent["etag"]) });
    expect([status, body.length]).toEqual([304, 0]);
  });

  it("sends the response of a timeout, and drops what comes after it", async () => {
    const { get } = await start(make, secure(), timeout(30));
    const { status, headers: sent } = await get("/slow");
    expect(status).toBe(504);
    expect(sent["x-frame-options"]).toBe("DENY");
    expect((await get("/text")).body.toString()).toBe(lorem);
  });

  it("puts headers on a response that the framework makes of an error", async () => {
    const { get } = await start(make, secure());
    const { status, headers: sent } = await get("/boom");
    expect(status).toBe(500);
    // Koa reports the error to the middleware, which rethrows it.
    if (name !== "toKoa()") expect(sent["x-frame-options"]).toBe("DENY");
  });

  it("reports an error that a middleware throws to the framework", async () => {
    const failing: Middleware = () => () => {
      throw Object.assign(new Error("not today"), { status: 418, expose: true });
    };
    const { get } = await start(make, secure(), failing);
    expect((await get("/text")).status).toBe(418);
  });

  it.each([undefined, null, "route", "router", 0])(
    "never asks the framework when a middleware throws %j",
    async (thrown) => {
      const guard: Middleware = () => async () => {
        await Promise.resolve();
        throw thrown;
      };
      const { get } = await start(make, guard);
      expect((await get("/text")).status).toBe(500);
    },
  );

  it("reports an error that a middleware throws after the response was written", async () => {
    const failing: Middleware = (next) => async (request, context) => {
      await next(request, context);
      throw new Error("too late");
    };
    const { get } = await start(make, failing);
    expect((await get("/text")).status).toBe(500);
  });

  it("sends events as they come, through compression, and closes them with the client", async () => {
    const { port, source } = await start(make, secure(), compress({ encodings: ["gzip"] }));
    for (const encoding of ["identity", "gzip"]) {
      const request = httpRequest({
        port,
        host: "127.0.0.1",
        path: "/events",
        headers: { "accept-encoding": encoding },
      }).end();
      const [response] = (await once(request, "response")) as [IncomingMessage];
      await once(response, "data");
      source.send("data: 1\n\n");
      await once(response, "data");
      response.on("error", () => undefined);
      request.destroy();
      await source.closed.promise;
    }
  });

  it("reports status, bytes and a client that left to finish listeners", async () => {
    const reports: FinishReport[] = [];
    const { get, port } = await start(make, recorder(reports), secure());
    await get("/text");
    await expect.poll(() => reports.length).toBe(1);
    expect(reports[0]).toMatchObject({ status: 200, bytes: lorem.length, aborted: false });
    await get("/big");
    await expect.poll(() => reports.length).toBe(2);
    expect(reports[1]).toMatchObject({ status: 200, bytes: 2_000_000, aborted: false });
    const request = httpRequest({ port, host: "127.0.0.1", path: "/slow" }).end();
    request.on("error", () => undefined);
    await once(request, "socket");
    setTimeout(() => request.destroy(), 30);
    await expect.poll(() => reports.length).toBe(3);
    expect(reports[2]).toMatchObject({ status: 499, aborted: true });
  });

  it("aborts the context's signal when the client leaves", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const watching: Middleware = (next) => (request, context) => {
      context.signal.addEventListener("abort", () => resolve());
      return next(request, context);
    };
    const { port } = await start(make, watching);
    const request = httpRequest({ port, host: "127.0.0.1", path: "/slow" }).end();
    request.on("error", () => undefined);
    setTimeout(() => request.destroy(), 30);
    await promise;
  });

  it("refuses what is not a middleware", () => {
    const make = { "toExpress()": toExpress, "toFastify()": toFastify, "toKoa()": toKoa }[name];
    expect(() => make?.({} as never)).toThrow("middleware is");
  });
});

describe("toExpress() in an application", () => {
  async function serveExpress(
    app: express.Express,
  ): Promise<(path: string, init?: RequestInit) => Promise<Response>> {
    const server = await listen(createServer(app));
    closers.push(() => new Promise((resolve) => server.close(resolve)));
    const { port } = server.address() as AddressInfo;
    return (path, init) => fetch(`http://127.0.0.1:${port}${path}`, init);
  }

  it("works on a route and under a mount path, with the whole URL", async () => {
    const seen: string[] = [];
    const watch: Middleware = (next) => (request, context) => {
      seen.push(new URL(request.url).pathname);
      return next(request, context);
    };
    const app = express();
    app.use("/api", toExpress(watch));
    app.get("/api/a", toExpress(headers({ "x-route": "a" })), (request, response) => {
      response.send(request.url);
    });
    app.get("/api/b", (_request, response) => void response.send("b"));
    const get = await serveExpress(app);
    const a = await get("/api/a?x=1");
    expect([a.headers.get("x-route"), await a.text()]).toEqual(["a", "/api/a?x=1"]);
    expect((await get("/api/b")).headers.get("x-route")).toBeNull();
    expect(seen).toEqual(["/api/a", "/api/b"]);
  });

  it("shares one context, which handlers find by the response", async () => {
    const contexts: unknown[] = [];
    const note: Middleware = (next) => (request, context) => {
      contexts.push(context);
      return next(request, context);
    };
    const app = express();
    app.use(toExpress(note));
    app.get("/", toExpress(note), (_request, response) => {
      contexts.push(expressContext(response));
      response.send("ok");
    });
    const get = await serveExpress(app);
    await get("/");
    expect(contexts).toHaveLength(3);
    expect(new Set(contexts).size).toBe(1);
  });

  it("keeps what other middlewares patch between two of ours", async () => {
    const app = express();
    app.use(toExpress(headers({ "x-outer": "1" })));
    app.use((_request, response, next) => {
      const { end } = response;
      response.end = ((chunk: unknown, ...rest: unknown[]) =>
        Reflect.apply(end, response, [
          typeof chunk === "string" ? `${chunk}!` : chunk,
          ...rest,
        ])) as typeof end;
      next();
    });
    app.use(toExpress(headers({ "x-inner": "1" })));
    app.get("/", (_request, response) => void response.end("hello"));
    const get = await serveExpress(app);
    const response = await get("/");
    expect(response.headers.get("x-outer")).toBe("1");
    expect(response.headers.get("x-inner")).toBe("1");
    expect(await response.text()).toBe("hello!");
  });

  const faults: [string, express.RequestHandler, string][] = [
    ["a status out of range", (_, response) => void response.writeHead(42).end("x"), "STATUS"],
    ["a number as body", (_, response) => void response.end(123 as never), "ARG_TYPE"],
    ["an object as chunk", (_, response) => void response.write({} as never), "ARG_TYPE"],
  ];
  it.each(faults)("reports %s to the handler, as Node does", async (_name, handler, code) => {
    const app = express();
    app.use(toExpress(headers({ "x-a": "b" })));
    app.use(handler);
    const report: express.ErrorRequestHandler = (error: { code: string }, _, response, _next) => {
      response.status(500).send(error.code);
    };
    app.use(report);
    const response = await (await serveExpress(app))("/");
    expect(response.status).toBe(500);
    expect(await response.text()).toContain(code);
  });

  it.each([
    ["a flat list", ["Set-Cookie", ["a=1", "b=2"], "X-B", "c"]],
    ["pairs", [["Set-Cookie", "a=1"] as never, ["set-cookie", "b=2"], ["X-B", "c"]]],
    ["an object", { "Set-Cookie": ["a=1", "b=2"], "X-B": "c" }],
  ])("takes the headers of writeHead as %s", async (_name, fields) => {
    const app = express();
    app.use(toExpress(headers({ "x-a": "b" })));
    app.use((_request, response) => void response.writeHead("201" as never, fields).end());
    const response = await (await serveExpress(app))("/");
    expect(response.status).toBe(201);
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect(response.headers.get("x-b")).toBe("c");
  });

  it.each([
    { kind: "at once", layer: headers({ "x-a": "b" }) },
    { kind: "later", layer: awaiting },
    { kind: "in its body", layer: compress({ encodings: ["gzip"] }) },
  ])(
    "throws for headers after the response, which a middleware changes $kind",
    async ({ layer }) => {
      const codes: unknown[] = [];
      const app = express();
      app.use(toExpress(layer));
      app.use(toExpress(headers({ "x-b": "c" })));
      app.use((_request, response) => {
        response.type("text").send(lorem);
        for (const late of [
          () => response.json({ error: "second" }),
          () => response.removeHeader("content-type"),
          () => response.appendHeader("x-c", "d"),
        ]) {
          try {
            late();
          } catch (error) {
            codes.push((error as { code: unknown }).code);
          }
        }
      });
      const get = await serveExpress(app);
      const response = await get("/", { headers: { "accept-encoding": "gzip" } });
      expect(response.headers.get("content-type")).toContain("text/plain");
      expect(await response.text()).toBe(lorem);
      expect(codes).toEqual(Array(3).fill("ERR_HTTP_HEADERS_SENT"));
    },
  );

  it("keeps what the framework says about its connection when a middleware replaces the body", async () => {
    const app = express();
    app.use(toExpress(compress({ encodings: ["gzip"] })));
    app.get("/close", (_request, response) => {
      response
        .set({ connection: "close", "transfer-encoding": "chunked" })
        .type("text")
        .send(lorem);
    });
    app.get("/trailer", (_request, response) => {
      response.set("trailer", "x-sum").type("text").write(lorem);
      response.addTrailers({ "x-sum": "1" });
      response.end();
    });
    const { get } = await start(() => listen(createServer(app)));
    const closing = await get("/close", { "accept-encoding": "gzip" });
    expect(closing.headers).toMatchObject({ connection: "close", "content-encoding": "gzip" });
    expect(gunzipSync(closing.body).toString()).toBe(lorem);
    const { headers: sent, trailers } = await get("/trailer", { "accept-encoding": "gzip" });
    expect(sent).toMatchObject({ trailer: "x-sum", "content-encoding": "gzip" });
    expect(trailers).toEqual({ "x-sum": "1" });
  });

  it("reports an error that is thrown by what it passes the request to", async () => {
    const layer = toExpress(headers({ "x-a": "b" }));
    const server = createServer((request, response) => {
      layer(request, response, (error) => {
        if (error === undefined) throw new Error("boom");
        response.writeHead(500).end(String(error));
      });
    });
    const { get } = await start(() => listen(server));
    const { status, body } = await get("/");
    expect([status, body.toString()]).toEqual([500, "Error: boom"]);
  });

  it("keeps the root of a mount path when a middleware changes the path", async () => {
    const app = express();
    const api = express.Router();
    api.use(toExpress(stripSlashes()));
    api.get("/", (request, response) => {
      response.send(`${request.baseUrl} ${request.url} ${request.originalUrl}`);
    });
    app.use("/api", api);
    const get = await serveExpress(app);
    expect(await (await get("/api/?x=1")).text()).toBe("/api /?x=1 /api/?x=1");
  });

  it("finds no header by the name of a property of objects", async () => {
    const seen: unknown[] = [];
    const app = express();
    app.use(
      toExpress((next) => (request, context) => {
        seen.push(request.headers.get("constructor"), request.headers.has("__proto__"));
        return next(request, context);
      }),
    );
    app.use((_request, response) => void response.send("ok"));
    await (
      await serveExpress(app)
    )("/");
    expect(seen).toEqual([null, false]);
  });

  it("says that the head was sent while the response is held", async () => {
    const app = express();
    app.use(toExpress((next) => async (request, context) => next(request, context)));
    const seen: boolean[] = [];
    app.get("/", (_request, response) => {
      seen.push(response.headersSent);
      response.send("ok");
      seen.push(response.headersSent);
    });
    const get = await serveExpress(app);
    expect(await (await get("/")).text()).toBe("ok");
    expect(seen).toEqual([false, true]);
  });

  it("explains a body that a parser in front has read", async () => {
    const app = express();
    app.use(express.text());
    app.use(toExpress(readAll));
    app.post("/", (_request, response) => void response.send("ok"));
    const messages: string[] = [];
    const report: express.ErrorRequestHandler = (error, _request, response, _next) => {
      messages.push(String(error));
      response.status(500).end();
    };
    app.use(report);
    const get = await serveExpress(app);
    await get("/", { method: "POST", body: "x", headers: { "content-type": "text/plain" } });
    expect(messages.join()).toContain("express.json()");
  });
});

describe("toKoa() in an application", () => {
  const serveKoa = (layer: Middleware, handler: Koa.Middleware): Promise<Client> => {
    const app = new Koa();
    app.use(toKoa(layer)).use(handler);
    const listener = app.callback();
    return start(() =>
      listen(createServer((request, response) => void listener(request, response))),
    );
  };

  it("lets a middleware read a stream of text", async () => {
    const { get } = await serveKoa(timeout(5_000), (ctx) => {
      ctx.body = Readable.from(["a", "ü"]);
    });
    const { status, body } = await get("/");
    expect([status, body.toString()]).toEqual([200, "aü"]);
  });

  it("leaves Koa's text of a status without a body", async () => {
    const { get } = await serveKoa(timeout(5_000), () => undefined);
    const { status, body } = await get("/");
    expect([status, body.toString()]).toEqual([404, "Not Found"]);
  });

  it("responds to HEAD with the length of the object that GET sends", async () => {
    const { get } = await serveKoa(compress({ encodings: ["gzip"] }), (ctx) => {
      ctx.body = { text: lorem };
    });
    const { headers: sent } = await get("/", {}, "HEAD");
    expect(sent["content-length"]).toBe(String(JSON.stringify({ text: lorem }).length));
  });
});

it("toFastify() gives a replaced body to inject()", async () => {
  const app = fastify();
  app.addHook("onRequest", toFastify(compress({ encodings: ["gzip"] })));
  app.get("/", () => lorem);
  const response = await app.inject({ url: "/", headers: { "accept-encoding": "gzip" } });
  expect(gunzipSync(response.rawPayload).toString()).toBe(lorem);
});

it("fastifyContext() and koaContext() return nothing for a response that no middleware has seen", () => {
  const raw = {} as never;
  expect([fastifyContext({ raw }), koaContext({ res: raw }), expressContext(raw)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
