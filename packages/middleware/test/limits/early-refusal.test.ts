import { connect } from "node:net";
import { expect, it } from "vitest";
import { text, type Handler, type Middleware } from "@fetchwork/http";
import { serve } from "@fetchwork/http/serve";
import { blackWords } from "../../src/access/black-words.ts";
import { idempotency } from "../../src/limits/idempotency.ts";
import { sizeLimit } from "../../src/limits/size-limit.ts";

// A 413 of a body that is still sent, 3 MiB over HTTP/1.1: the next request of the connection is
// served.

const content = "x".repeat(3 * 1_048_576);

const middlewares: readonly (readonly [string, Middleware])[] = [
  ["sizeLimit", sizeLimit(100_000)],
  ["sizeLimit that streams", sizeLimit(100_000, { mode: "stream" })],
  ["blackWords", blackWords(["bad"], { limit: 100_000 })],
  ["idempotency", idempotency({ maxRequestBytes: 100_000 })],
];

const readers: readonly (readonly [string, Handler])[] = [
  ["the request", async (request) => text(await request.text())],
  ["a clone", async (request) => text(await request.clone().text())],
];

const framings: readonly (readonly [string, string])[] = [
  ["Content-Length", `Content-Length: ${content.length}\r\n\r\n${content}`],
  [
    "chunks",
    `Transfer-Encoding: chunked\r\n\r\n${content.length.toString(16)}\r\n${content}\r\n0\r\n\r\n`,
  ],
];

const cases = middlewares.flatMap(([name, middleware]) =>
  readers.flatMap(([what, reader]) =>
    framings.map(([framing, body]) => ({ name, middleware, what, reader, framing, body })),
  ),
);

it.each(cases)(
  "$name before a handler that reads $what, with $framing",
  async ({ middleware, reader, body }) => {
    const refusing = middleware(reader);
    await using server = await serve(
      (request, context) => (request.method === "GET" ? text("next") : refusing(request, context)),
      { port: 0, hostname: "127.0.0.1", signals: false, gracePeriod: 0 },
    );
    const socket = connect(server.port, "127.0.0.1").setEncoding("latin1");
    socket.write(`POST / HTTP/1.1\r\nHost: a\r\nIdempotency-Key: "a"\r\n${body}`);
    socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    let received = "";
    for await (const piece of socket) {
      received += String(piece);
      if (received.endsWith("next")) break;
    }
    expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 413", "HTTP/1.1 200"]);
  },
);
