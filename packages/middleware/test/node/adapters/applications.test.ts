import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { gunzipSync } from "node:zlib";
import type { Middleware } from "@fetchwork/http";
import express from "express";
import fastify from "fastify";
import Koa from "koa";
import { describe, expect, it } from "vitest";
import { compress, headers, stripSlashes, timeout } from "../../../src/index.ts";
import { expressContext, toExpress } from "../../../src/node/adapters/express.ts";
import { fastifyContext, toFastify } from "../../../src/node/adapters/fastify.ts";
import { koaContext, toKoa } from "../../../src/node/adapters/koa.ts";
import { closers, listen, lorem, readAll, start, type Client } from "./framework-client.ts";

const awaiting: Middleware = (next) => async (request, context) => {
  const response = await next(request, context);
  await new Promise((resolve) => setImmediate(resolve));
  return response;
};

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
    ["an object as chunk", (_, response) => void response.write({}), "ARG_TYPE"],
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
        response.writeHead(500).end(error instanceof Error ? error.message : "");
      });
    });
    const { get } = await start(() => listen(server));
    const { status, body } = await get("/");
    expect([status, body.toString()]).toEqual([500, "boom"]);
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
