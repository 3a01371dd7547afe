import { connect } from "node:net";
import { text, wrap, type Handler, type Middleware } from "@fetchwork/http";
import { fromNodeListener, serve, type NodeApplication } from "@fetchwork/http/serve";
import { describe, expect, it } from "vitest";
import {
  basicAuthWithUserPasswd,
  blackWords,
  crossOriginProtection,
  idempotency,
  logger,
  onlyFrom,
  rateLimit,
  realIp,
  recoverer,
  reject,
  sizeLimit,
  throttle,
  timeout,
} from "../src/index.ts";

/** Sends bytes as they are, and returns all that comes until the server closes the connection. */
function send(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    let received = "";
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => (received += chunk));
    // A server that refuses a body may reset the connection while it is sent.
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(received));
    socket.write(bytes, "latin1");
  });
}

const options = { port: 0, hostname: "127.0.0.1", signals: false, gracePeriod: 0 } as const;
const reading: Handler = async (request) => text(`${(await request.text()).length} bytes`);
const ignoring: Handler = () => text("not read");

describe("a body that looks like requests", () => {
  const hidden = "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n";

  it.each<[string, Middleware]>([
    ["no middleware", (next) => next],
    ["sizeLimit", sizeLimit(10)],
    ["sizeLimit of streams", sizeLimit(10, { mode: "stream" })],
    ["blackWords", blackWords(["hidden"])],
    ["blackWords with a limit", blackWords(["x"], { limit: 10 })],
    ["basicAuth", basicAuthWithUserPasswd("user", "password")],
    ["idempotency", idempotency({ maxRequestBytes: 10 })],
    ["crossOriginProtection", crossOriginProtection()],
    ["reject", reject(403, "no", () => true)],
    ["onlyFrom", onlyFrom("192.0.2.1")],
    ["throttle", throttle(1)],
    ["rateLimit", rateLimit({ limit: 1 })],
    ["timeout", timeout(5000)],
    ["logger of bodies", logger({ body: true, sink: () => undefined })],
  ])("is never read as requests by %s", async (_case, middleware) => {
    for (const handler of [reading, ignoring]) {
      const targets: string[] = [];
      const note: Middleware = (next) => (request, context) => {
        targets.push(new URL(request.url).pathname);
        return next(request, context);
      };
      await using server = await serve(wrap(handler, note, recoverer(), middleware), options);
      const port = Number(new URL(server.url).port);
      const head = "POST /first HTTP/1.1\r\nHost: a\r\nOrigin: https://b\r\nIdempotency-Key: k\r\n";
      const last = "GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
      const framed = [hidden, hidden.repeat(10_000)].flatMap((body) => [
        `Content-Length: ${body.length}\r\n\r\n${body}`,
        `Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
      ]);
      const responses = await Promise.all(framed.map((body) => send(port, head + body + last)));
      for (const response of responses) {
        expect(response).toMatch(/^HTTP\/1\.1 \d{3} /);
        expect(response.match(/^HTTP\/1\.1 /gm)?.length).toBeLessThanOrEqual(2);
      }
      expect(targets).toContain("/first");
      expect(targets).not.toContain("/hidden");
    }
  });
});

describe("a connection after a body over the limit", () => {
  const body = "x".repeat(300_000);

  it.each<[string, Middleware]>([
    ["sizeLimit", sizeLimit(10)],
    ["blackWords", blackWords(["y"], { limit: 10 })],
    ["idempotency", idempotency({ maxRequestBytes: 10 })],
  ])("serves the next request, with %s", async (_case, middleware) => {
    await using server = await serve(wrap(ignoring, middleware), options);
    const port = Number(new URL(server.url).port);
    for (const framed of [
      `Content-Length: ${body.length}\r\n\r\n${body}`,
      `Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    ]) {
      const responses = await send(
        port,
        `POST / HTTP/1.1\r\nHost: a\r\nIdempotency-Key: k\r\n${framed}GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
      );
      expect(responses).toMatch(/^HTTP\/1\.1 413 [^]*HTTP\/1\.1 200 [^]*not read$/);
    }
  });
});

describe("addresses that a client claims over a socket", () => {
  const show = wrap(
    (_, context) => text(context.ip ?? "none"),
    realIp({ trustedProxies: ["127.0.0.1"] }),
  );

  it.each<[string, string]>([
    ["X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-For: 9.9.9.9", "9.9.9.9"],
    ["X-Forwarded-For: 9.9.9.9, junk\r\nX-Real-IP: 6.6.6.6", "127.0.0.1"],
    ["X-Forwarded-For: 9.9.9.9:81\r\nX-Real-IP: 6.6.6.6", "9.9.9.9"],
    ["X-Forwarded-For:\r\nX-Real-IP: 6.6.6.6", "127.0.0.1"],
    ["X-Real-IP: 6.6.6.6\r\nX-Real-IP: 7.7.7.7", "127.0.0.1"],
    ["X-Forwarded-For: ::ffff:9.9.9.9", "9.9.9.9"],
    ["X-Forwarded-For: 9.9.9.9\r\nx_forwarded_for: 6.6.6.6", "9.9.9.9"],
  ])("%j comes from %s", async (headers, address) => {
    await using server = await serve(show, options);
    const port = Number(new URL(server.url).port);
    const response = await send(
      port,
      `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${headers}\r\n\r\n`,
    );
    expect(response.split("\r\n\r\n")[1]).toBe(address);
  });
});

// A `Request` has no body for GET and HEAD, but the request of a Node application has.
describe("a body of GET for a Node application", () => {
  const application: NodeApplication = async (request, response) => {
    response.end(`read: ${Buffer.concat(await request.toArray()).toString()}`);
  };
  const counted = "Content-Length: 4\r\n\r\nbad1";
  const chunked = "Transfer-Encoding: chunked\r\n\r\n4\r\nbad1\r\n0\r\n\r\n";

  it.each<[string, Middleware, string, readonly [number, string | undefined]]>([
    ["blackWords, with a length", blackWords(["bad1"]), counted, [200, "read: "]],
    ["blackWords, in chunks", blackWords(["bad1"]), chunked, [200, "read: "]],
    ["sizeLimit, with a length over it", sizeLimit(3), counted, [413, undefined]],
    ["sizeLimit, with a length up to it", sizeLimit(4), counted, [200, "read: bad1"]],
    ["sizeLimit, in chunks", sizeLimit(3), chunked, [200, "read: "]],
    [
      "a streaming sizeLimit, in chunks",
      sizeLimit(3, { mode: "stream" }),
      chunked,
      [200, "read: "],
    ],
  ])("does not get around %s", async (_, middleware, framed, [status, read]) => {
    const handler = wrap(fromNodeListener(application), middleware);
    await using server = await serve(handler, options);
    const answer = await send(
      server.port,
      `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${framed}`,
    );
    expect(answer).toContain(`HTTP/1.1 ${status} `);
    expect(/read: .*/.exec(answer)?.[0]).toBe(read);
  });
});
