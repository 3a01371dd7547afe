import { once } from "node:events";
import { Agent, request as httpRequest, type ClientRequest, type IncomingMessage } from "node:http";
import { text as readText } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { readBody } from "@fetchwork/kit";
import { deriveRequest, text, type Handler } from "../../../src/index.ts";
import { serve, type RunningServer, type ServeOptions } from "../../../src/node/index.ts";
import { RawClient } from "../raw-client.ts";

// A response of 413 while the client still sends 3 MiB. The connection stays open, and its next
// request is served.

const mebibyte = 1_048_576;
const content = "x".repeat(3 * mebibyte);
const next = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
let server: RunningServer | undefined;
const reported: unknown[] = [];

/** Starts a server whose handler gets all requests but GET. */
async function start(handler: Handler, options: ServeOptions = {}): Promise<RunningServer> {
  reported.length = 0;
  server = await serve(
    (request, context) => (request.method === "GET" ? text("next") : handler(request, context)),
    {
      port: 0,
      hostname: "127.0.0.1",
      signals: false,
      reportError: (error) => reported.push(error),
      ...options,
    },
  );
  return server;
}

afterEach(async () => {
  await server?.close({ gracePeriod: 0 });
  server = undefined;
});

const tooLarge = (): Response => text("too large", { status: 413 });
const ignore = (): void => undefined;

/**
 * What handlers do with a body that they do not want; each responds with 413. The limit of `text()`
 * is 1 MiB.
 */
const handlers: readonly (readonly [string, Handler])[] = [
  ["does not read it", tooLarge],
  ["looks at it", ({ body }) => (body === null ? text("no body") : tooLarge())],
  ["fails to read it", async (request) => text(await request.text())],
  [
    "reads it up to a limit",
    async ({ body }) => {
      await readBody(body, { limit: 100_000 }).catch(ignore);
      return tooLarge();
    },
  ],
  ["fails to read a clone", async (request) => text(await request.clone().text())],
  [
    "catches that a clone is too large",
    async (request) => {
      await request.clone().text().catch(ignore);
      return tooLarge();
    },
  ],
  [
    "fails to read the clone of a derived request",
    async (request) => {
      const body = request.body?.pipeThrough(new TransformStream<Uint8Array<ArrayBuffer>>());
      const derived = deriveRequest(request, { body: body ?? null });
      await readBody(derived.clone().body, { limit: 100_000 }).catch(ignore);
      return tooLarge();
    },
  ],
  [
    "makes a clone",
    (request) => {
      request.clone();
      return tooLarge();
    },
  ],
  [
    "cancels it",
    async ({ body }) => {
      await body?.cancel();
      return tooLarge();
    },
  ],
  [
    "cancels it with a text",
    async ({ body }) => {
      await body?.cancel("too large");
      return tooLarge();
    },
  ],
  [
    "cancels a clone",
    (request) => {
      void request.clone().body?.cancel("too large");
      return tooLarge();
    },
  ],
  [
    "leaves it after the first piece",
    async ({ body }) => {
      await body?.getReader().read();
      return tooLarge();
    },
  ],
  [
    "leaves a clone after the first piece",
    async (request) => {
      await request.clone().body?.getReader().read();
      return tooLarge();
    },
  ],
];

const length = `Content-Length: ${content.length}\r\n`;

/** How a client frames the body. */
const framings: readonly (readonly [string, string])[] = [
  ["Content-Length", `${length}\r\n${content}`],
  [
    "chunks",
    `Transfer-Encoding: chunked\r\n\r\n${content.length.toString(16)}\r\n${content}\r\n0\r\n\r\n`,
  ],
];

describe.each(handlers)("a handler that %s", (_what, handler) => {
  it.each(framings)("leaves the connection to the next request, with %s", async (_, body) => {
    const { port } = await start(handler);
    const client = new RawClient(port);
    client.send(`POST / HTTP/1.1\r\nHost: a\r\n${body}`);
    const refusal = await client.until(/^HTTP\/1\.1 413 /);
    expect(refusal).not.toMatch(/connection: close/i);
    client.send(next);
    await client.until(/HTTP\/1\.1 200 [^]*next$/);
    client.reset();
    expect(reported).toEqual([]);
  });

  it("leaves the connection to the next request, after 100 Continue", async () => {
    const { port } = await start(handler);
    const client = new RawClient(port);
    client.send(`POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n${length}\r\n`);
    await client.until(/^HTTP\/1\.1 100 /);
    client.send(content);
    await client.until(/HTTP\/1\.1 413 /);
    client.send(next);
    await client.until(/HTTP\/1\.1 200 [^]*next$/);
    client.reset();
  });

  it("lets a client of node:http use its connection again", async () => {
    const { port } = await start(handler);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = (method: string): ClientRequest =>
      httpRequest({ port, host: "127.0.0.1", method, agent });
    const refused = await responseTo(ask("POST").end(content));
    const get = ask("GET").end();
    expect([refused, await responseTo(get), get.reusedSocket]).toEqual([413, 200, true]);
    agent.destroy();
  });

  it("fails no request of fetch()", async () => {
    const { url } = await start(handler);
    const statuses: number[] = [];
    for (let round = 0; round < 2; round += 1) {
      for (const init of [{ method: "POST", body: content }, {}]) {
        const response = await fetch(url, init);
        await response.text();
        statuses.push(response.status);
      }
    }
    expect(statuses).toEqual([413, 200, 413, 200]);
  });
});

/** Reads a response to its end, and returns its status. */
async function responseTo(request: ClientRequest): Promise<number | undefined> {
  const [response] = (await once(request, "response")) as [IncomingMessage];
  await readText(response);
  return response.statusCode;
}

it("an early response tells a reader that lost the body, and does not end its stream", async () => {
  const failure = Promise.withResolvers<unknown>();
  const { port } = await start(async ({ body }) => {
    const reader = body?.getReader();
    await reader?.read();
    reader?.closed.then(() => failure.resolve("the whole"), failure.resolve);
    return tooLarge();
  });
  const client = new RawClient(port);
  client.send(`POST / HTTP/1.1\r\nHost: a\r\n${length}\r\n${content}`);
  expect(await failure.promise).toMatchObject({ name: "AbortError" });
  client.reset();
});
