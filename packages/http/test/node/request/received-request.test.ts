import { inspect } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { BodyTooLargeError } from "@fetchwork/kit";
import { json, nativeRequest, text, type Handler } from "../../../src/index.ts";
import { serve, type RunningServer, type ServeOptions } from "../../../src/node/index.ts";
import { exchange } from "../raw-client.ts";

let server: RunningServer;
let reported: unknown[] = [];

async function start(handler: Handler, options: ServeOptions = {}): Promise<RunningServer> {
  reported = [];
  server = await serve(handler, {
    port: 0,
    hostname: "127.0.0.1",
    signals: false,
    reportError: (error) => reported.push(error),
    ...options,
  });
  return server;
}

afterEach(async () => {
  await server.close({ gracePeriod: 0 });
});

/** Has a handler read a request, and returns what it found. */
async function inspectRequest(
  request: string,
  read: (request: Request) => unknown,
): Promise<unknown> {
  const { port } = await start(async (received) => json(await read(received)));
  const response = await exchange(port, request);
  const body = response.slice(response.indexOf("\r\n\r\n") + 4);
  return JSON.parse(Buffer.from(body, "latin1").toString());
}

const close = "Connection: close\r\n\r\n";
const form = "a=1&b=%C3%A4";
const post = `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${form.length}\r\n${close}${form}`;

describe("the URL of a received request", () => {
  it.each([
    ["/", "a", "http://a/"],
    ["/a/b?c=d&e[]=%20", "a:3000", "http://a:3000/a/b?c=d&e[]=%20"],
    ["//evil/path", "a", "http://a//evil/path"],
    ["/a/../b/./c", "a", "http://a/b/c"],
    ["/%2e%2e/b", "a", "http://a/b"],
    ["/..", "a", "http://a/"],
    ["/a'b?c'd", "a", "http://a/a'b?c%27d"],
    ['/"a"', "a", "http://a/%22a%22"],
    ["/", "A.EXAMPLE:80", "http://a.example/"],
    ["/", "0x7f.1", "http://127.0.0.1/"],
    ["http://b:8080/c?d", "a", "http://b:8080/c?d"],
    ["HTTPS://user:password@b/c", "a", "http://b/c"],
  ])("is made of the target %s and the host %s as %s", async (target, host, url) => {
    const request = `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${close}`;
    const found = await inspectRequest(request, (received) => [
      received.url,
      new URL(received.url).href,
    ]);
    expect(found).toEqual([url, url]);
  });

  it("has the server's address when an HTTP/1.0 request has no host", async () => {
    const url = await inspectRequest("GET /a HTTP/1.0\r\n\r\n", (received) => received.url);
    expect(url).toBe(`http://127.0.0.1:${server.port}/a`);
  });
});

describe("the headers of a received request", () => {
  it("join repeated fields, cookies with a semicolon, and ignore the case of names", async () => {
    const request = `GET / HTTP/1.1\r\nHost: a\r\nX-A: 1\r\nCookie: b=2\r\nx-a: 3\r\ncookie: c=4\r\n${close}`;
    const found = await inspectRequest(request, ({ headers }) => [
      headers.get("X-A"),
      headers.get("cookie"),
      headers.has("X-B"),
      headers instanceof Headers,
      [...headers],
    ]);
    const fields = [
      ["connection", "close"],
      ["cookie", "b=2; c=4"],
      ["host", "a"],
      ["x-a", "1, 3"],
    ];
    expect(found).toEqual(["1, 3", "b=2; c=4", false, true, fields]);
  });

  it("have the host of a whole URL in place of the one in Host", async () => {
    const request = `GET http://b:81/ HTTP/1.1\r\nHost: a\r\n${close}`;
    expect(await inspectRequest(request, ({ headers }) => headers.get("host"))).toBe("b:81");
  });

  it("are the platform's for hundreds of fields", async () => {
    const lines = Array.from({ length: 300 }, (_, index) => `X-${index % 150}: ${index}\r\n`);
    const request = `GET / HTTP/1.1\r\nHost: a\r\n${lines.join("")}${close}`;
    const found = await inspectRequest(request, ({ headers }) => [
      headers.get("x-149"),
      [...headers].length,
    ]);
    expect(found).toEqual(["149, 299", 152]);
  });
});

describe("the body of a received request", () => {
  const reads: [string, (request: Request) => Promise<unknown>, unknown][] = [
    ["text()", (request) => request.text(), form],
    ["bytes()", async (request) => (await request.bytes()).byteLength, form.length],
    ["arrayBuffer()", async (request) => (await request.arrayBuffer()).byteLength, form.length],
    ["blob()", async (request) => (await request.blob()).type, "application/x-www-form-urlencoded"],
    ["formData()", async (request) => [...(await request.formData())].flat(), ["a", "1", "b", "ä"]],
    ["body", async (request) => new Response(request.body).text(), form],
    ["text() after body", (request) => (void request.body, request.text()), form],
    [
      "clone()",
      async (request) => [await request.clone().text(), await request.text()],
      [form, form],
    ],
    ["nativeRequest()", (request) => nativeRequest(request).text(), form],
  ];

  it.each(reads)("is read once by %s", async (_what, read, expected) => {
    const found = await inspectRequest(post, async (request) => {
      const before = request.bodyUsed;
      const value = await read(request);
      const again = await request.text().catch((error: unknown) => error instanceof TypeError);
      return [before, value, request.bodyUsed, again];
    });
    expect(found).toEqual([false, expected, true, true]);
  });

  it("is null for GET, and empty for its readers", async () => {
    const found = await inspectRequest(`GET / HTTP/1.1\r\nHost: a\r\n${close}`, async (request) => [
      request.body,
      await request.text(),
      request.bodyUsed,
    ]);
    expect(found).toEqual([null, "", false]);
  });

  it.each<[string, (request: Request) => Promise<unknown>]>([
    ["text()", (request) => request.text()],
    ["body", (request) => new Response(request.body).text()],
    ["formData()", (request) => request.formData()],
  ])("over maxRequestBodySize fails in %s with BodyTooLargeError", async (_what, read) => {
    const failure = Promise.withResolvers<unknown>();
    const { port } = await start(
      async (request) => {
        await read(request).catch(failure.resolve);
        return text("");
      },
      { maxRequestBodySize: 3 },
    );
    const chunked = `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n${close}4\r\nabcd\r\n0\r\n\r\n`;
    await exchange(port, chunked);
    const error = await failure.promise;
    expect(error).toBeInstanceOf(BodyTooLargeError);
    expect(error).toMatchObject({ limit: 3 });
  });

  it("loses its byte order mark, as on the platform", async () => {
    const request = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n${close}\u{EF}\u{BB}\u{BF}1`;
    expect(await inspectRequest(request, (received) => received.json())).toBe(1);
  });
});

describe("a received request", () => {
  it("is a Request with the properties of a new one", async () => {
    const found = await inspectRequest(`GET /a HTTP/1.1\r\nHost: a\r\n${close}`, (request) => [
      request instanceof Request,
      Object.prototype.toString.call(request),
      [request.cache, request.credentials, request.mode, request.redirect, request.keepalive],
      inspect(request).split("\n")[0],
    ]);
    const native = new Request("http://a/a");
    expect(found).toEqual([
      true,
      "[object Request]",
      [native.cache, native.credentials, native.mode, native.redirect, native.keepalive],
      "Request {",
    ]);
  });

  it.each<[string, (request: Request) => unknown]>([
    ["new Request(request)", (request) => new Request(request)],
    ["new Request(request, init)", (request) => new Request(request, { method: "POST" })],
    ["fetch(request)", (request) => fetch(request)],
  ])("is explained when %s rejects it", async (_what, use) => {
    const { url } = await start(async (request) => {
      await use(request);
      return text("");
    });
    expect((await fetch(url)).status).toBe(500);
    expect(reported).toMatchObject([
      {
        code: "ERR_HTTP_NATIVE_REQUEST",
        message: expect.stringContaining("nativeRequest(request)"),
      },
    ]);
  });

  it("goes into new Request() and fetch() as nativeRequest(request)", async () => {
    const found = await inspectRequest(post, async (request) => {
      const copy = new Request(nativeRequest(request), { headers: { "x-a": "1" } });
      return [copy.method, copy.url, copy.headers.get("x-a"), await copy.text()];
    });
    expect(found).toEqual(["POST", "http://a/", "1", form]);
  });
});
