import { gzipSync } from "node:zlib";
import express from "express";
import fastify from "fastify";
import Koa from "koa";
import { describe, expect, it } from "vitest";
import { deriveRequest, wrap, type Handler, type Middleware } from "../../../src/index.ts";
import { fromNodeListener, serve, type NodeApplication } from "../../../src/node/index.ts";
import { RawClient } from "../raw-client.ts";

class TooLarge extends Error {
  // Express would set it on an error that it gets.
  get status(): number {
    return 413;
  }

  readonly expose = true;
}

/** Fails every body at its second chunk, as a middleware with a limit does. */
const failBody: Middleware = (next) => (request, context) => {
  const reader = request.body?.getReader();
  let chunks = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value } = (await reader?.read()) ?? {};
      chunks += 1;
      if (chunks === 1 && value !== undefined) controller.enqueue(value);
      else controller.error(new TooLarge("the body is larger than one chunk"));
    },
  });
  return next(deriveRequest(request, { body }), context);
};

const applications: [string, () => Promise<NodeApplication>][] = [
  ["Express with express.json()", makeExpress],
  ["Koa with a loop over the request", makeKoa],
  ["Fastify", makeFastify],
  ["a plain listener that listens for errors", makePlain],
  ["a plain listener that does not listen for errors", makeCareless],
];
const limits: [string, (handler: Handler) => Promise<Server>][] = [
  ["maxRequestBodySize of serve()", (handler) => open(handler, { maxRequestBodySize: 10 })],
  ["a middleware", (handler) => open(wrap(handler, failBody))],
];
const cases = applications.flatMap(([name, make]) =>
  limits.map(([limit, start]) => [name, limit, make, start] as const),
);

type Server = Awaited<ReturnType<typeof serve>>;

function open(handler: Handler, options: { maxRequestBodySize?: number } = {}): Promise<Server> {
  const loopback = { port: 0, hostname: "127.0.0.1", signals: false, gracePeriod: 0 } as const;
  return serve(handler, { ...loopback, reportError: () => undefined, ...options });
}

/** Sends two chunks, and leaves the body open: anyone who waits for more of it waits forever. */
async function postChunks(server: Server, coding: "identity" | "gzip"): Promise<string> {
  const client = new RawClient(server.port);
  const text = JSON.stringify({ text: "x".repeat(40) });
  const body = coding === "gzip" ? gzipSync(text).toString("latin1") : text;
  client.send(
    `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Encoding: ${coding}\r\n` +
      `Transfer-Encoding: chunked\r\n\r\n${chunkOf(body.slice(0, 8))}`,
  );
  setTimeout(() => client.send(chunkOf(body.slice(8))), 20);
  const head = await client.until(/^HTTP\/1.1 \d+/);
  client.reset();
  return head.slice(9, 12);
}

function chunkOf(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

describe.each(cases)(
  "%s behind fromNodeListener(), with a limit by %s",
  (_name, _limit, make, start) => {
    it("responds as soon as the body of the request is too large", async () => {
      await using server = await start(fromNodeListener(await make()));
      expect(await postChunks(server, "identity")).toBe("413");
    }, 3000);
  },
);

it("Express behind fromNodeListener() responds to a path that it does not know when the body fails", async () => {
  await using server = await open(fromNodeListener(express()), { maxRequestBodySize: 10 });
  expect(await postChunks(server, "identity")).toBe("413");
}, 3000);

describe.each(limits)("Express behind fromNodeListener(), with a limit by %s", (_, start) => {
  it("responds with 413 when it inflates a body that is too large", async () => {
    await using server = await start(fromNodeListener(await makeExpress()));
    expect(await postChunks(server, "gzip")).toBe("413");
  }, 3000);
});

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

async function makePlain(): Promise<NodeApplication> {
  return (request, response) => {
    request.on("error", (error) => {
      response.statusCode = "status" in error ? Number(error.status) : 500;
      response.end();
    });
    request.on("end", () => response.end("read"));
    request.resume();
  };
}

async function makeCareless(): Promise<NodeApplication> {
  return (request, response) => {
    request.on("end", () => response.end("read"));
    request.resume();
  };
}
