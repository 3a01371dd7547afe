import { afterEach, describe, expect, it } from "vitest";
import { text, type FinishReport } from "../../../src/index.ts";
import { serve, type RunningServer } from "../../../src/node/index.ts";
import { RawClient } from "../raw-client.ts";

const head = "POST / HTTP/1.1\r\nHost: a\r\n";
const declared = `${head}Content-Length: 100\r\n\r\nx`;
const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n`;
const options = {
  port: 0,
  hostname: "127.0.0.1",
  signals: false,
  gracePeriod: 0,
  requestTimeout: 200,
} as const;
let server: RunningServer | undefined;

afterEach(async () => {
  await server?.close({ gracePeriod: 0 });
});

type Read = (request: Request) => Promise<unknown>;

async function readChunks(request: Request): Promise<void> {
  for await (const chunk of request.body ?? []) void chunk;
}

const reads: readonly (readonly [string, Read])[] = [
  ["text()", (request) => request.text()],
  ["json()", (request) => request.json()],
  ["arrayBuffer()", (request) => request.arrayBuffer()],
  ["body", readChunks],
  ["a clone", (request) => request.clone().text()],
  [
    "text() and a wrapped error",
    (request) =>
      request.text().catch((cause: unknown) => {
        throw new Error("the body could not be read", { cause });
      }),
  ],
];

const departures: readonly (readonly [string, string, (client: RawClient) => void])[] = [
  ["a reset", declared, (client) => client.reset()],
  ["a reset between chunks", chunked, (client) => client.reset()],
  ["an end", declared, (client) => client.socket.end()],
  ["an end between chunks", chunked, (client) => client.socket.end()],
  ["junk for a chunk", chunked, (client) => client.send("zz\r\n")],
  ["silence", declared, () => undefined],
];

describe("a client that leaves before its body is whole", () => {
  it.each(
    reads.flatMap(([what, read]) =>
      departures.map(([how, bytes, leave]) => [what, how, { read, bytes, leave }] as const),
    ),
  )("is not reported: %s ended by %s", async (_what, _how, { read, bytes, leave }) => {
    const reported: unknown[] = [];
    const report = Promise.withResolvers<FinishReport>();
    const started = Promise.withResolvers<void>();
    const failed = Promise.withResolvers<void>();
    server = await serve(
      async (request, context) => {
        context.onFinish(report.resolve);
        const reading = read(request);
        started.resolve();
        try {
          await reading;
        } finally {
          failed.resolve();
        }
        return text("read");
      },
      { ...options, reportError: (error) => reported.push(error) },
    );
    const client = new RawClient(server.port);
    client.send(bytes);
    await started.promise;
    leave(client);
    await failed.promise;
    expect(await report.promise).toMatchObject({ aborted: true });
    await new Promise((resolve) => setImmediate(resolve));
    expect(reported).toEqual([]);
  });

  it.each(departures)(
    "is not reported when the response streams the body back: %s",
    async (_how, bytes, leave) => {
      const reported: unknown[] = [];
      const report = Promise.withResolvers<FinishReport>();
      server = await serve(
        (request, context) => {
          context.onFinish(report.resolve);
          return new Response(request.body);
        },
        { ...options, reportError: (error) => reported.push(error) },
      );
      const client = new RawClient(server.port);
      client.send(bytes);
      await client.until(/x\r\n$/);
      leave(client);
      expect(await report.promise).toMatchObject({ status: 200, aborted: true });
      await new Promise((resolve) => setImmediate(resolve));
      expect(reported).toEqual([]);
    },
  );

  it.each(departures)("is not reported in the background: %s", async (_how, bytes, leave) => {
    const reported: unknown[] = [];
    const accepted = Promise.withResolvers<void>();
    const failed = Promise.withResolvers<void>();
    server = await serve(
      (request, context) => {
        context.waitUntil(request.text().finally(failed.resolve));
        accepted.resolve();
        return new Promise(() => undefined);
      },
      { ...options, reportError: (error) => reported.push(error) },
    );
    const client = new RawClient(server.port);
    client.send(bytes);
    await accepted.promise;
    leave(client);
    await failed.promise;
    await server.close({ gracePeriod: 0 });
    expect(reported).toEqual([]);
  });
});
