import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { text, wrap } from "@fetchwork/http";
import { toNodeListener } from "@fetchwork/http/serve";
import express from "express";
import fastify from "fastify";
import Koa from "koa";
import { expect, it } from "vitest";
import { headers, rewrite, sizeLimit } from "../../src/index.ts";

const listener = toNodeListener(
  wrap(
    async (request) => text(`${new URL(request.url).pathname} ${await request.text()}`),
    headers({ "x-ours": "yes" }),
    sizeLimit(100),
    // Express takes the mount path away, the others do not.
    rewrite("^(/api)?/old/(.*)", "$1/new/$2"),
  ),
);

const applications: [string, string, () => Promise<RequestListener>][] = [
  ["Express", "/new/a", async () => express().use("/api", listener)],
  ["Fastify", "/api/new/a", mountInFastify],
  ["Koa", "/api/new/a", mountInKoa],
];

it.each(applications)(
  "a mounted handler responds in %s, with the path that its middlewares see",
  async (_name, path, mount) => {
    await using server = createServer(await mount()).listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/old/a`;
    const response = await fetch(url, { method: "POST", body: "body" });
    expect(response.headers.get("x-ours")).toBe("yes");
    expect(await response.text()).toBe(`${path} body`);
    const refused = await fetch(url, { method: "POST", body: "x".repeat(101) });
    expect(refused.status).toBe(413);
  },
);

async function mountInFastify(): Promise<RequestListener> {
  const app = fastify();
  app.all("/api/*", {
    onRequest: (request, reply) => {
      reply.hijack();
      listener(request.raw, reply.raw);
    },
    handler: () => undefined,
  });
  await app.ready();
  return (request, response) => app.routing(request, response);
}

async function mountInKoa(): Promise<RequestListener> {
  const app = new Koa();
  app.use((context) => {
    context.respond = false;
    listener(context.req, context.res);
  });
  const callback = app.callback();
  return (request, response) => void callback(request, response);
}
