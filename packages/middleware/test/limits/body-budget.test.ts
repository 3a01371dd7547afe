import { expect, it } from "vitest";
import { text, wrap } from "@fetchwork/http";
import { serve } from "@fetchwork/http/serve";
import { blackWords, idempotency, logger, sizeLimit } from "../../src/index.ts";

it.each([
  ["sizeLimit()", [sizeLimit(2000)]],
  ["blackWords()", [blackWords(["evil"], { limit: 2000 })]],
  ["idempotency()", [idempotency()]],
  [
    "sizeLimit() in stream mode and blackWords()",
    [sizeLimit(2000, { mode: "stream" }), blackWords(["evil"])],
  ],
])(
  "%s counts in the server's budget of bodies until the handler has responded",
  async (_what, middlewares) => {
    const gate = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    const handler = wrap(
      async (request) => {
        if (request.url.endsWith("/slow")) {
          arrived.resolve();
          await gate.promise;
        }
        return text("ok");
      },
      ...middlewares,
    );
    await using server = await serve(handler, {
      port: 0,
      hostname: "127.0.0.1",
      signals: false,
      gracePeriod: 0,
      maxBodySize: 1000,
      maxBufferedSize: 1000,
      reportError: () => undefined,
    });
    const post = (path: string): Promise<Response> => {
      const headers = { "idempotency-key": path };
      return fetch(server.url + path, { method: "POST", body: "x".repeat(700), headers });
    };
    const slow = post("slow");
    await arrived.promise;
    const refused = await post("a");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    gate.resolve();
    expect((await slow).status).toBe(200);
    expect((await post("b")).status).toBe(200);
  },
);

const streaming = [
  ["logger() with bodies", logger({ body: true, sink: () => undefined })],
  ["sizeLimit() in stream mode", sizeLimit(1_000_000, { mode: "stream" })],
] as const;

const wholeReads = ["text", "json", "bytes", "arrayBuffer", "blob"] as const;

it.each(
  streaming.flatMap(([what, middleware]) =>
    wholeReads.map((read) => [what, read, middleware] as const),
  ),
)("%s keeps the server's limits of %s()", async (_what, read, middleware) => {
  const gate = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const handler = wrap(async (request) => {
    await request[read]();
    if (request.url.endsWith("/slow")) {
      arrived.resolve();
      await gate.promise;
    }
    return text("ok");
  }, middleware);
  await using server = await serve(handler, {
    port: 0,
    hostname: "127.0.0.1",
    signals: false,
    gracePeriod: 0,
    maxBodySize: 1000,
    maxBufferedSize: 1000,
    reportError: () => undefined,
  });
  const post = (path: string, size: number): Promise<Response> =>
    fetch(server.url + path, { method: "POST", body: "1".repeat(size) });
  expect((await post("large", 1001)).status).toBe(413);
  const slow = post("slow", 700);
  await arrived.promise;
  expect((await post("a", 700)).status).toBe(503);
  gate.resolve();
  expect((await slow).status).toBe(200);
  expect((await post("b", 1000)).status).toBe(200);
});
