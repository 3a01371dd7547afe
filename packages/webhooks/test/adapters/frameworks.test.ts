import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { wrap, type Handler } from "@fetchwork/http";
import express from "express";
import fastify from "fastify";
import { H3, serve as serveH3 } from "h3";
import { Hono } from "hono";
import Koa from "koa";
import { afterEach, expect, it } from "vitest";
import {
  createLambdaHandler,
  createNodeMiddleware,
  createWebMiddleware,
  type LambdaEvent,
  Webhooks,
} from "../../src/index.ts";
import { delivery } from "../receivers.ts";

const path = "/api/vendor/webhooks";
const closers: (() => unknown)[] = [];
const webhooks = new Webhooks({
  secret: "s",
  log: { warn: () => undefined, error: () => undefined },
});
const seen: unknown[] = [];
webhooks.onAny(({ payload }) => seen.push(payload));

afterEach(async () => {
  seen.length = 0;
  for (const close of closers.splice(0)) await close();
});

async function listen(listener: RequestListener): Promise<string> {
  const server: Server = createServer(listener);
  closers.push(() => server.close().closeAllConnections());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const frameworks: Readonly<Record<string, () => Promise<string>>> = {
  "Node http": () =>
    listen((request, response) => void createNodeMiddleware(webhooks)(request, response)),
  "Express 5": () => {
    const app = express();
    app.use(createNodeMiddleware(webhooks));
    app.use((_, response) => void response.status(404).send("app"));
    return listen(app);
  },
  "Fastify 5": async () => {
    const app = fastify();
    const middleware = createNodeMiddleware(webhooks);
    app.addHook("onRequest", async (request, reply) => {
      if (await middleware(request.raw, reply.raw)) reply.hijack();
    });
    app.setNotFoundHandler((_, reply) => reply.code(404).send("app"));
    closers.push(() => app.close());
    return app.listen({ port: 0, host: "127.0.0.1" });
  },
  "Koa 3": () => {
    const app = new Koa();
    const middleware = createNodeMiddleware(webhooks);
    app.use(async (context, next) => {
      context.respond = false;
      if (await middleware(context.req, context.res)) return;
      context.respond = true;
      await next();
    });
    const callback = app.callback();
    return listen((request, response) => void callback(request, response));
  },
  Hono: async () => {
    const app = new Hono();
    const middleware = createWebMiddleware(webhooks);
    app.post(path, (context) => middleware(context.req.raw));
    return serveFetch(app.fetch);
  },
  "h3 2": async () => {
    const app = new H3();
    const middleware = createWebMiddleware(webhooks);
    app.post(path, (event) => middleware(event.req, event));
    const server = serveH3(app, { port: 0, hostname: "127.0.0.1", silent: true });
    await server.ready();
    closers.push(() => server.close(true));
    return (server.url ?? "").replace(/\/$/, "");
  },
  "@fetchwork/http": async () => {
    const handler: Handler = createWebMiddleware(webhooks, {
      fallback: () => new Response("app", { status: 404 }),
    });
    return serveFetch((request) => wrap(handler)(request));
  },
};

async function serveFetch(
  fetcher: (request: Request) => Response | Promise<Response>,
): Promise<string> {
  const { serve } = await import("@fetchwork/http/serve");
  const server = await serve((request) => fetcher(request), { port: 0, hostname: "127.0.0.1" });
  closers.push(() => server.close());
  return `http://127.0.0.1:${server.port}`;
}

it.each(Object.entries(frameworks))(
  "%s delivers to the receiver, and keeps its other paths",
  async (_, start) => {
    const origin = await start();
    const body = '{ "emoji": "😀",  "spaces":1 }';
    const response = await fetch(origin + path, await delivery(webhooks, body));
    expect([response.status, await response.text()]).toEqual([200, "ok\n"]);
    expect(seen).toEqual([{ emoji: "😀", spaces: 1 }]);
    const wrong = await fetch(
      origin + path,
      await delivery(webhooks, body, {
        "x-hub-signature-256": `sha256=${"0".repeat(64)}`,
      }),
    );
    expect(wrong.status).toBe(400);
    if (_ !== "Node http") expect((await fetch(`${origin}/other`)).status).toBe(404);
  },
);

it("A route handler of Next.js delivers as an exported POST", async () => {
  const POST = createWebMiddleware(webhooks, { path });
  const request = new Request(`http://x${path}`, await delivery(webhooks, '{"a":1}'));
  expect((await POST(request, { params: Promise.resolve({}) })).status).toBe(200);
  expect(seen).toEqual([{ a: 1 }]);
});

const places: readonly (readonly [string, (context: object) => readonly unknown[]])[] = [
  ["a worker, the third argument", (context) => [{ SECRET: "x" }, context]],
  ["Netlify, the second argument", (context) => [context]],
  ["Next.js, with after", (context) => [{ params: Promise.resolve({}) }, context]],
];

it.each(places)(
  "Handlers that run after a 202 are passed to waitUntil of %s",
  async (_, runtime) => {
    const slow = new Webhooks({ secret: "s" });
    const gate = Promise.withResolvers<void>();
    slow.onAny(() => gate.promise);
    const worker = createWebMiddleware(slow, { timeout: 5 });
    const kept: Promise<unknown>[] = [];
    const request = new Request(`http://x${path}`, await delivery(slow, "{}"));
    // As that of Workers, it must be called as a method.
    class Context {
      readonly #kept = kept;
      waitUntil(promise: Promise<unknown>): void {
        this.#kept.push(promise);
      }
    }
    const response = await worker(request, ...runtime(new Context()));
    expect(response.status).toBe(202);
    expect(kept).toHaveLength(1);
    gate.resolve();
    await Promise.all(kept);
  },
);

it("A waitUntil that throws is logged, and changes neither the response nor the process", async () => {
  const errors: unknown[] = [];
  const slow = new Webhooks({ secret: "s", log: { error: (error) => errors.push(error) } });
  const gate = Promise.withResolvers<void>();
  slow.onAny(() => gate.promise);
  const failure = new Error("too late");
  const waitUntil = (): never => {
    throw failure;
  };
  const receive = createWebMiddleware(slow, { timeout: 5 });
  const request = new Request(`http://x${path}`, await delivery(slow, "{}"));
  expect((await receive(request, { waitUntil })).status).toBe(202);
  expect(errors).toEqual([failure]);
  gate.resolve();
});

it("A fallback is called with all arguments of the runtime", async () => {
  const receive = createWebMiddleware(webhooks, {
    fallback: (_, env: { readonly name: string }, context: { readonly id: number }) =>
      new Response(`${env.name} ${context.id}`),
  });
  const response = await receive(new Request("http://x/other"), { name: "a" }, { id: 1 });
  expect(await response.text()).toBe("a 1");
});

const text = '{"emoji":"😀"}';
const encoded = Buffer.from(text).toString("base64");
it.each<readonly [string, LambdaEvent]>([
  ["1.0", { httpMethod: "POST", path, body: text }],
  ["1.0 in base64", { httpMethod: "POST", path, body: encoded, isBase64Encoded: true }],
  [
    "2.0",
    {
      rawPath: path,
      rawQueryString: "a=1",
      requestContext: { http: { method: "POST" } },
      body: text,
    },
  ],
  [
    "2.0 in base64",
    {
      rawPath: path,
      requestContext: { http: { method: "POST" } },
      body: encoded,
      isBase64Encoded: true,
    },
  ],
])("A Lambda function delivers events of format %s", async (_, event) => {
  const { headers } = await delivery(webhooks, text);
  const handler = createLambdaHandler(webhooks);
  const single = headers as Record<string, string>;
  expect(await handler({ ...event, headers: single })).toMatchObject({
    statusCode: 200,
    body: "ok\n",
    isBase64Encoded: false,
  });
  const multiple = Object.fromEntries(
    Object.entries(single).map(([name, value]) => [name, [value]]),
  );
  expect(await handler({ ...event, multiValueHeaders: multiple })).toMatchObject({
    statusCode: 200,
  });
  expect(seen).toEqual([{ emoji: "😀" }, { emoji: "😀" }]);
  const broken = await handler({ ...event, body: "no base64!", headers: single });
  expect(broken.statusCode).toBe(400);
});

it("A Lambda function responds to requests that are not deliveries", async () => {
  const handler = createLambdaHandler(webhooks);
  expect(await handler({})).toMatchObject({ statusCode: 404 });
  expect(await handler({ httpMethod: "GET", path })).toMatchObject({ statusCode: 404 });
});

it("A Lambda function returns after all handlers", async () => {
  const slow = new Webhooks({ secret: "s" });
  let isDone = false;
  slow.onAny(async () => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    isDone = true;
  });
  const { headers } = await delivery(slow, "{}");
  const event = {
    httpMethod: "POST",
    path,
    body: "{}",
    headers: headers as Record<string, string>,
  };
  expect(await createLambdaHandler(slow, { timeout: 5 })(event)).toMatchObject({
    statusCode: 202,
  });
  expect(isDone).toBe(true);
});
