import { wrap } from "@fetchwork/http";
import { fromNodeListener, serve, type NodeApplication } from "@fetchwork/http/serve";
import { sizeLimit } from "@fetchwork/middleware";
import express from "express";
import fastify from "fastify";
import Koa from "koa";
import { expect, it } from "vitest";

const applications: [string, () => Promise<NodeApplication>][] = [
  ["Express", makeExpress],
  ["Koa", makeKoa],
  ["Fastify", makeFastify],
];

it.each(applications)(
  "%s behind sizeLimit() in stream mode responds with 413 to a body that is too large",
  async (_, make) => {
    const handler = wrap(fromNodeListener(await make()), sizeLimit(10, { mode: "stream" }));
    await using server = await serve(handler, {
      port: 0,
      hostname: "127.0.0.1",
      signals: false,
      gracePeriod: 0,
    });
    const response = await fetch(server.url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: new Blob([JSON.stringify({ text: "x".repeat(45) })]).stream(),
      duplex: "half",
      signal: AbortSignal.timeout(2000),
    } as RequestInit);
    expect(response.status).toBe(413);
    await response.body?.cancel();
  },
);

async function makeExpress(): Promise<NodeApplication> {
  const app = express();
  app.set("env", "test");
  app.post("/", express.json(), (_request, response) => void response.send("read"));
  return app;
}

async function makeKoa(): Promise<NodeApplication> {
  const app = new Koa();
  app.silent = true;
  app.use(async (context) => {
    await Array.fromAsync(context.req);
    context.body = "read";
  });
  return app.callback();
}

async function makeFastify(): Promise<NodeApplication> {
  const app = fastify();
  app.post("/", () => "read");
  await app.ready();
  return (request, response) => app.routing(request, response);
}
