import { once } from "node:events";
import { createServer, request as httpRequest, type IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { gunzipSync } from "node:zlib";
import type { FinishReport, Middleware } from "@fetchwork/http";
import express from "express";
import fastify from "fastify";
import Koa from "koa";
import { describe, expect, it } from "vitest";
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
  timeout,
  trace,
} from "../../../src/index.ts";
import { toExpress } from "../../../src/node/adapters/express.ts";
import { toFastify } from "../../../src/node/adapters/fastify.ts";
import { toKoa } from "../../../src/node/adapters/koa.ts";
import {
  listen,
  lorem,
  readAll,
  start,
  type EventSource,
  type MakeServer,
} from "./framework-client.ts";

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

/** Records how each exchange ended. */
function recorder(reports: FinishReport[]): Middleware {
  return (next) => (request, context) => {
    context.onFinish((report) => reports.push(report));
    return next(request, context);
  };
}

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
        // Code without types may throw anything.
        // oxlint-disable-next-line typescript/only-throw-error
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
