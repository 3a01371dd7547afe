import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import fc from "fast-check";
import { json, text } from "../../../src/index.ts";
import { serve, type RunningServer } from "../../../src/node/index.ts";
import { exchange, RawClient } from "../raw-client.ts";
import { hostileRequests } from "./hostile-requests.ts";

const mebibyte = 1024 * 1024;
const reported: unknown[] = [];
const handled: string[] = [];
let server: RunningServer;

beforeAll(async () => {
  server = await serve(
    async (request, context) => {
      const { pathname, href } = new URL(request.url);
      handled.push(pathname);
      if (pathname === "/ignore") return text("ignored");
      if (pathname === "/cancel") {
        await request.body?.cancel();
        return text("cancelled", { status: 413 });
      }
      if (pathname === "/touch") {
        const { body } = request;
        // What the body brings fills its queue in the meantime.
        await new Promise((resolve) => setImmediate(resolve));
        return text(body === null ? "nothing" : "touched");
      }
      if (pathname === "/catch") {
        const isRead = await request.text().then(
          () => true,
          () => false,
        );
        return text(isRead ? "read" : "caught", { status: 413 });
      }
      if (pathname === "/later") {
        const reader = request.body?.getReader();
        context.waitUntil(readLater(reader));
        return text("accepted");
      }
      return json({ href, length: (await request.text()).length });
    },
    {
      port: 0,
      hostname: "127.0.0.1",
      signals: false,
      headersTimeout: 300,
      requestTimeout: 1_500,
      maxRequestBodySize: mebibyte,
      reportError: (error) => reported.push(error),
    },
  );
});

beforeEach(() => {
  reported.length = 0;
  handled.length = 0;
});

afterAll(async () => {
  await server.close({ gracePeriod: 0 });
});

const readLengths: number[] = [];

async function readLater(
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
): Promise<void> {
  let length = 0;
  for (;;) {
    const piece = await reader?.read();
    if (piece?.value === undefined) break;
    length += piece.value.byteLength;
  }
  readLengths.push(length);
}

async function isAlive(): Promise<void> {
  expect((await fetch(server.url)).status).toBe(200);
}

describe("a hostile client", () => {
  it.each(hostileRequests)("gets its status for %s", async (_what, bytes, status) => {
    const answer = await exchange(server.port, bytes);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    const [head = "", body = ""] = answer.split("\r\n\r\n");
    expect(head).toMatch(/\r\ncontent-type: application\/problem\+json(\r\n|$)/i);
    expect(head).toMatch(/\r\nconnection: close(\r\n|$)/i);
    const problem: unknown = JSON.parse(body);
    expect(problem).toEqual({
      type: "about:blank",
      title: expect.stringMatching(/./),
      status,
      detail: expect.stringMatching(/./),
      message: expect.stringMatching(/./),
    });
    expect(reported).toEqual([]);
    await isAlive();
  });

  it.each<[string, string]>([
    ["a reset in the body", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nx"],
    ["half a request", "GET / HT"],
  ])("does not disturb others with %s", async (_what, bytes) => {
    const client = new RawClient(server.port);
    client.send(bytes);
    await isAlive();
    client.reset();
    await client.closed;
    await isAlive();
  });

  it("may use an absolute target, a star, and an empty Host", async () => {
    const ask = (head: string): Promise<string> =>
      exchange(server.port, `${head}Connection: close\r\n\r\n`);
    expect(await ask("GET http://b/x HTTP/1.1\r\nHost: a\r\n")).toContain('"http://b/x"');
    expect(await ask("OPTIONS * HTTP/1.1\r\nHost: a\r\n")).toMatch(/^HTTP\/1\.1 204 [^]*\r\n\r\n$/);
    expect(await ask("GET / HTTP/1.1\r\nHost:\r\n")).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("gets 413 when it sends more than the limit without announcing it", async () => {
    const client = new RawClient(server.port);
    client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    client.send(`${(2 * mebibyte).toString(16)}\r\n${"x".repeat(2 * mebibyte)}\r\n0\r\n\r\n`);
    await client.until(/^HTTP\/1\.1 413 /);
    // The rest was read, so the connection can be used again.
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await client.until(/HTTP\/1\.1 200 /);
    client.socket.destroy();
    expect(reported).toEqual([]);
  });

  it("may use its connection again when the handler itself responds to a body over the limit", async () => {
    const client = new RawClient(server.port);
    const length = (4 * mebibyte).toString(16);
    client.send("POST /catch HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    client.send(`${length}\r\n${"x".repeat(4 * mebibyte)}\r\n0\r\n\r\n`);
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await client.until(/^HTTP\/1\.1 413 [^]*caught[^]*HTTP\/1\.1 200 /);
    client.socket.destroy();
  });

  it.each(["/ignore", "/cancel", "/touch"])(
    "can send another request after a body that the handler did not read: %s",
    async (path) => {
      const client = new RawClient(server.port);
      const body = "x".repeat(500_000);
      client.send(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n`);
      client.send(body);
      await client.until(/ignored|cancelled|touched/);
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
      await client.until(/HTTP\/1\.1 200 [^]*"length":0/);
      client.socket.destroy();
    },
  );

  it.each(["/ignore", "/cancel", "/touch"])(
    "cannot send a body forever that is not read: %s",
    async (path) => {
      const client = new RawClient(server.port);
      client.send(`POST ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`);
      const chunk = `${mebibyte.toString(16)}\r\n${"x".repeat(mebibyte)}\r\n`;
      const flood = (): void => {
        while (client.socket.writable && client.socket.write(chunk));
      };
      client.socket.on("drain", flood);
      flood();
      expect(await client.closed).toMatch(/ignored|cancelled|touched/);
      await isAlive();
    },
  );

  it("may have its response while its body is still read", async () => {
    const client = new RawClient(server.port);
    client.send("POST /later HTTP/1.1\r\nHost: a\r\nContent-Length: 500000\r\n\r\n");
    await client.until(/accepted/);
    client.send("x".repeat(500_000));
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await client.until(/HTTP\/1\.1 200 [^]*"length":0/);
    client.socket.destroy();
    expect(readLengths).toEqual([500_000]);
  });

  it.each<[string, string]>([
    ["TRACE", "TRACE / HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["no Host", "GET / HTTP/1.1\r\n\r\n"],
    ["a bad Host", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n"],
    ["a bad target", "GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["HTTP/2.0", "GET / HTTP/2.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n"],
    ["a coding", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"],
    ["an expectation", "GET / HTTP/1.1\r\nHost: a\r\nExpect: much\r\n\r\n"],
    ["CONNECT", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["no HTTP", "G@T / HTTP/1.1\r\nHost: a\r\n\r\n"],
  ])("gets no response to requests behind a rejected one: %s", async (_name, refused) => {
    const one = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
    const client = new RawClient(server.port);
    client.send(one("/before"));
    await client.until(/before/);
    client.send(refused + one("/behind") + one("/behind"));
    const answers = await client.closed;
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toHaveLength(2);
    expect(handled).toEqual(["/before"]);
  });

  it("gets no 100 Continue for a body over the limit", async () => {
    const answer = await exchange(
      server.port,
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1048577\r\nExpect: 100-continue\r\n\r\n",
    );
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 413"]);
  });

  it("gets its whole response when junk follows its request, and no second one", async () => {
    const client = new RawClient(server.port);
    client.send("GET /first HTTP/1.1\r\nHost: a\r\n\r\n");
    await client.until(/first/);
    client.send("junk\r\n\r\n");
    const answers = await client.closed;
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 400"]);
    expect(await exchange(server.port, "GET /ignore HTTP/1.1\r\nHost: a\r\n\r\njunk\r\n\r\n")).toBe(
      "",
    );
  });

  it("may wait for 100 Continue", async () => {
    const client = new RawClient(server.port);
    client.send(
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n",
    );
    await client.until(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
    client.send("abc");
    expect(await client.closed).toContain('"length":3');
  });

  it("may pipeline requests and gets its responses in order", async () => {
    const one = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
    const client = new RawClient(server.port);
    client.send(one("/1") + one("/2") + one("/3"));
    const answers = await client.until(/a\/3"/);
    expect([...answers.matchAll(/a\/(\d)"/g)].map((match) => match[1])).toEqual(["1", "2", "3"]);
    client.socket.destroy();
  });

  it("may close its half of the connection", async () => {
    const client = new RawClient(server.port);
    client.socket.end("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await client.closed;
    await isAlive();
  });

  it("does not disturb others with any bytes", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 60 }),
        fc.boolean(),
        async (bytes, isAfterStart) => {
          const client = new RawClient(server.port);
          const junk = Buffer.from(bytes).toString("latin1");
          client.socket.end(isAfterStart ? `GET /${junk}` : junk, "latin1");
          await client.closed;
        },
      ),
      { numRuns: 40 },
    );
    await isAlive();
  });
});
