import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { constants, createGunzip } from "node:zlib";
import { createContext, empty, text, wrap, type Handler, type Middleware } from "@fetchwork/http";
import { fromNodeListener, serve } from "@fetchwork/http/serve";
import express from "express";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import {
  appInfo,
  basicAuthWithUserPasswd,
  benchmarks,
  blackWords,
  cacheControl,
  canonicalPath,
  cleanPath,
  compress,
  cors,
  crossOriginProtection,
  deprecation,
  gzip,
  headers,
  health,
  idempotency,
  logger,
  maybe,
  metrics,
  noCache,
  onlyFrom,
  ping,
  rateLimit,
  realIp,
  recoverer,
  reject,
  requestHeaders,
  rewrite,
  secAllHeaders,
  secure,
  serverTiming,
  sizeLimit,
  stripSlashes,
  sunset,
  throttle,
  timeout,
  trace,
} from "../src/index.ts";
import { profiler } from "../src/node/profiler.ts";

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const authorization = `Basic ${btoa("dev:good")}`;

/** Every middleware of the package for servers, in the order of docs/middlewares.md. */
function everything(): Middleware[] {
  const date = new Date("2030-01-01T00:00:00Z");
  return [
    trace(),
    realIp({ trustedProxies: [] }),
    logger({ sink: () => undefined, body: true }),
    benchmarks(),
    serverTiming(),
    cors({ allowedOrigins: ["https://a.example"] }),
    secure(secAllHeaders()),
    appInfo({ name: "all", version: "1" }),
    headers("x-outer: 1"),
    deprecation("1", date),
    sunset(date),
    recoverer({ log: () => undefined }),
    canonicalPath(),
    cleanPath(),
    stripSlashes(),
    rewrite("^/old/(.*)$", "/$1"),
    requestHeaders("x-in: 1"),
    ping(),
    health(),
    metrics(),
    maybe(profiler(), ({ url }) => url.includes("/debug/")),
    onlyFrom("127.0.0.1"),
    reject(418, "no tea", () => false),
    rateLimit({ limit: 1000 }),
    throttle(100),
    crossOriginProtection({ checkUpgrades: true }),
    basicAuthWithUserPasswd("dev", "good"),
    idempotency(),
    sizeLimit(1_000_000),
    blackWords(["forbidden"]),
    compress(),
    gzip(),
    timeout(60_000, { mode: "head" }),
    maybe(noCache(), () => false),
    cacheControl(60, "v1"),
  ];
}

async function start(handler: Handler): Promise<string> {
  const server = await serve(handler, { port: 0, hostname: "127.0.0.1", signals: false });
  closers.push(() => server.close({ gracePeriod: 0 }));
  return server.url;
}

interface Asked {
  readonly response: IncomingMessage;
  readonly hints: readonly unknown[];
}

async function ask(url: string, encoding = "identity"): Promise<Asked> {
  const hints: unknown[] = [];
  const sent = { authorization, "accept-encoding": encoding };
  const request = httpRequest(url, { headers: sent, agent: false });
  request.on("information", (info) => hints.push([info.statusCode, info.headers["link"]]));
  request.end();
  // `once` resolves to what the event is emitted with.
  const [response] = (await once(request, "response")) as [IncomingMessage];
  response.on("error", () => undefined);
  return { response, hints };
}

describe("inside every middleware at once", () => {
  it("events reach the client one by one, and its abort the handler", async () => {
    let send = (_event: string): void => undefined;
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    const handler: Handler = () => {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          send = (event) => controller.enqueue(new TextEncoder().encode(event));
          send(": open\n\n");
        },
        cancel: () => leave(),
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    };
    const url = await start(wrap(handler, ...everything()));
    const { response } = await ask(`${url}old//events/`, "gzip");
    expect([response.statusCode, response.headers["content-encoding"]]).toEqual([200, "gzip"]);
    const gunzip = createGunzip({ flush: constants.Z_SYNC_FLUSH });
    gunzip.on("error", () => undefined);
    response.pipe(gunzip);
    expect(String(await once(gunzip, "data"))).toBe(": open\n\n");
    for (let index = 0; index < 5; index += 1) {
      const arrived = once(gunzip, "data");
      send(`data: ${index}\n\n`);
      expect(String(await arrived)).toBe(`data: ${index}\n\n`);
    }
    response.destroy();
    await left;
  });

  it("early hints of an Express application go out", async () => {
    const app = express();
    app.get("/page", (_request, response) => {
      response.writeEarlyHints({ link: "</app.js>; rel=preload; as=script" });
      response.send("page");
    });
    const url = await start(wrap(fromNodeListener(app), ...everything()));
    const { response, hints } = await ask(`${url}page`);
    expect(hints).toEqual([[103, "</app.js>; rel=preload; as=script"]]);
    expect([response.statusCode, String(await once(response, "data"))]).toEqual([200, "page"]);
    response.resume();
  });

  it("the runtime's own response to an upgrade is not changed", async () => {
    // Node has no such response; Deno, Bun and Workers make it.
    const upgrade = Object.defineProperty(new Response(null), "status", { value: 101 });
    const handler = wrap(() => upgrade, ...everything());
    const sent = { upgrade: "websocket", connection: "upgrade", authorization };
    for (const headers of [sent, { ...sent, "accept-encoding": "gzip", origin: "http://h" }]) {
      const request = new Request("http://h/chat", { headers });
      const context = createContext(request, { peer: "127.0.0.1" });
      expect(await handler(request, context)).toBe(upgrade);
    }
  });
});

/**
 * A server as docs/middlewares.md shows it: pages by a handler, WebSockets by `ws`, one chain for
 * both.
 */
async function startChat(): Promise<string> {
  const chain = everything();
  const allow = wrap(() => empty(204), ...chain);
  const sockets = new WebSocketServer({ noServer: true });
  const answerUpgrade = async (
    message: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ): Promise<void> => {
    const fields = Object.entries(message.headers).map(([name, value]): [string, string] => [
      name,
      String(value),
    ]);
    const url = new URL(message.url ?? "/", `http://${message.headers.host}`);
    const request = new Request(url, { headers: fields });
    const context = createContext(request, { peer: message.socket.remoteAddress });
    const { status } = await allow(request, context);
    if (status === 204) {
      sockets.handleUpgrade(message, socket, head, (client) => {
        client.on("message", (data, isBinary) => client.send(data, { binary: isBinary }));
      });
    } else {
      socket.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\n\r\n`);
    }
  };
  const server = await serve(
    wrap(() => text("page"), ...chain),
    {
      port: 0,
      hostname: "127.0.0.1",
      signals: false,
      onUpgrade: answerUpgrade,
    },
  );
  closers.push(async () => {
    for (const client of sockets.clients) client.terminate();
    await server.close({ gracePeriod: 0 });
  });
  return `127.0.0.1:${server.port}`;
}

describe("WebSockets next to every middleware at once", () => {
  it("talk while the same server serves pages", async () => {
    const host = await startChat();
    const client = new WebSocket(`ws://${host}/chat`, { headers: { authorization } });
    await once(client, "open");
    for (const word of ["one", "two"]) {
      const answered = once(client, "message");
      client.send(word);
      expect(String((await answered)[0])).toBe(word);
    }
    const page = await fetch(`http://${host}/`, { headers: { authorization } });
    expect([await page.text(), page.headers.get("x-outer")]).toEqual(["page", "1"]);
    const closed = once(client, "close");
    client.close(1000);
    expect((await closed)[0]).toBe(1000);
  });

  it.each([
    ["without credentials", 401, {}],
    ["with wrong ones", 403, { authorization: `Basic ${btoa("dev:bad")}` }],
    ["of another site", 403, { authorization, origin: "https://evil.example" }],
    ["over the path of ping", 200, { authorization }, "/ping"],
  ])("are refused %s", async (_, status, sent, path = "/chat") => {
    const host = await startChat();
    const client = new WebSocket(`ws://${host}${path}`, { headers: sent });
    client.on("error", () => undefined);
    const [, response] = (await once(client, "unexpected-response")) as [unknown, IncomingMessage];
    expect(response.statusCode).toBe(status);
    client.terminate();
  });
});
