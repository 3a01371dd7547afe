import { execFile } from "node:child_process";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import type { HeaderList, Transport } from "../../src/client/transport/transport.ts";
import { undiciTransport, type UndiciTransportOptions } from "../../src/node/client/index.ts";
import { rejectionOf, requestOf, textOf, valuesOf } from "./requests.ts";

let server: Server | undefined;
let transport: Transport | undefined;
let url = "";

afterEach(async () => {
  await transport?.close();
  await new Promise((resolve) => (server === undefined ? resolve(0) : server.close(resolve)));
  server = transport = undefined;
});

async function start(
  listener: (request: IncomingMessage, response: ServerResponse) => void,
  options: UndiciTransportOptions = { proxy: false },
): Promise<Transport> {
  server = createServer(listener);
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  transport = undiciTransport(options);
  return transport;
}

/** What a server saw. */
interface Seen {
  readonly method: string;
  readonly url: string;
  readonly raw: readonly string[];
  readonly body: string;
}

function echo(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const { method, url: path, rawHeaders } = request;
    const body = Buffer.concat(chunks).toString();
    response.end(JSON.stringify({ method, url: path, raw: rawHeaders, body }));
  });
}

function read(body: Uint8Array): Seen {
  return JSON.parse(textOf(body)) as Seen;
}

describe("a request", () => {
  it.each(["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY", "PROPFIND"])(
    "of %s may have a body",
    async (method) => {
      const { exchange } = bound(await start(echo));
      for (const body of ["héllo", new TextEncoder().encode("héllo")]) {
        const response = await exchange(requestOf(url, { method, body }));
        const seen = read(response.body);
        expect([seen.method, seen.body]).toEqual([method, "héllo"]);
        expect(valuesOf(seen.raw, "content-length")).toEqual(["6"]);
      }
    },
  );

  it("without a body says so where one is expected", async () => {
    const { exchange } = bound(await start(echo));
    const post = read((await exchange(requestOf(url, { method: "POST" }))).body);
    expect(valuesOf(post.raw, "content-length")).toEqual(["0"]);
    const get = read((await exchange(requestOf(url))).body);
    expect(valuesOf(get.raw, "content-length")).toEqual([]);
  });

  it("has the path and query of its URL, and headers in their order, repeated ones too", async () => {
    const { exchange } = bound(await start(echo));
    const headers = ["x-b", "1", "x-a", "2", "x-b", "3"];
    const seen = read((await exchange(requestOf(`${url}a%20b/?q=%C3%A9&q`, { headers }))).body);
    expect(seen.url).toBe("/a%20b/?q=%C3%A9&q");
    expect(seen.raw.filter((_, index) => seen.raw[index & ~1]?.startsWith("x-"))).toEqual(headers);
  });

  it("has the Host that the caller gave", async () => {
    const { exchange } = bound(await start(echo));
    const seen = read((await exchange(requestOf(url, { headers: ["host", "a.example"] }))).body);
    expect(valuesOf(seen.raw, "host")).toEqual(["a.example"]);
  });

  it("closes its connection when it says so", async () => {
    const { exchange } = bound(await start(echo));
    const { headers, body } = await exchange(requestOf(url, { headers: ["connection", "close"] }));
    expect(valuesOf(read(body).raw, "connection")).toEqual(["close"]);
    expect(valuesOf(headers, "connection")).toEqual(["close"]);
  });

  it.each<[string, HeaderList]>([
    ["a line break in a value", ["x-a", "1\r\nx-b: 2"]],
    ["a line feed alone in a value", ["x-a", "1\nx-b: 2"]],
    ["a NUL in a value", ["x-a", "\0"]],
    ["a character beyond Latin-1 in a value", ["x-a", "\u0100"]],
    ["a line break in a name", ["x-a: 1\r\nx-b", "2"]],
    ["a space in a name", ["x a", "2"]],
    ["an empty name", ["", "2"]],
    ["a pseudo header", [":path", "/other"]],
    ["Transfer-Encoding", ["transfer-encoding", "chunked"]],
    ["Upgrade", ["upgrade", "websocket"]],
    ["Keep-Alive", ["keep-alive", "timeout=5"]],
    ["Expect", ["expect", "100-continue"]],
    ["Proxy-Authorization", ["proxy-authorization", "Basic c2VjcmV0"]],
    ["two Hosts", ["host", "a", "host", "b"]],
    ["a Connection that names nothing", ["connection", "a b"]],
    ["a Content-Length that is too long", ["content-length", "4"]],
    ["a Content-Length that is too short", ["content-length", "2"]],
    ["a Content-Length that is none", ["content-length", "3, 3"]],
    ["a signed Content-Length", ["content-length", "+3"]],
    ["two Content-Lengths", ["content-length", "3", "content-length", "3"]],
  ])("with %s is refused before anything is sent", async (_, headers) => {
    let requests = 0;
    const { exchange, stream } = bound(
      await start((_request, response) => {
        requests += 1;
        response.end();
      }),
    );
    const request = requestOf(url, { method: "POST", body: "abc", headers });
    expect(await rejectionOf(exchange(request))).toMatchObject({ code: "ERR_HTTP_HEADER" });
    const error = await rejectionOf(stream(request));
    expect(error.name).toBe("HttpUsageError");
    expect(error.message).not.toContain("c2VjcmV0");
    expect(requests).toBe(0);
  });

  it("cannot be a CONNECT", async () => {
    const { exchange } = bound(await start(echo));
    expect(await rejectionOf(exchange(requestOf(url, { method: "CONNECT" })))).toMatchObject({
      code: "ERR_HTTP_METHOD",
    });
  });
});

describe("a response", () => {
  it("has every value of every header", async () => {
    const { exchange } = bound(
      await start((_request, response) => {
        response.writeHead(201, ["Set-Cookie", "a=1", "__proto__", "x", "Set-Cookie", "b=2"]);
        response.end("made");
      }),
    );
    const { status, headers, body } = await exchange(requestOf(url));
    expect([status, textOf(body)]).toEqual([201, "made"]);
    expect(valuesOf(headers, "set-cookie")).toEqual(["a=1", "b=2"]);
    expect(valuesOf(headers, "__proto__")).toEqual(["x"]);
  });
});

describe("connections", () => {
  it("are used again", async () => {
    const sockets = new Set<unknown>();
    const { exchange } = bound(
      await start(
        (request, response) => {
          sockets.add(request.socket);
          response.end();
        },
        { proxy: false, connections: 1 },
      ),
    );
    for (let round = 0; round < 5; round += 1) await exchange(requestOf(url));
    expect(sockets.size).toBe(1);
  });

  it("are at most as many as allowed, and waiting for one is not slow connecting", async () => {
    let open = 0;
    let most = 0;
    const { exchange } = bound(
      await start(
        (_request, response) => {
          most = Math.max(most, (open += 1));
          setTimeout(() => {
            open -= 1;
            response.end();
          }, 40);
        },
        { proxy: false, connections: 2 },
      ),
    );
    const timeouts = { connect: 30, headers: 5_000, body: 5_000 };
    await Promise.all(Array.from({ length: 8 }, () => exchange(requestOf(url, { timeouts }))));
    expect(most).toBe(2);
  });

  it("do not keep a process alive that has nothing more to do", async () => {
    await start((_request, response) => response.end("ok"));
    const script = `
      const { undiciTransport } = await import(process.argv[1]);
      const transport = undiciTransport({ proxy: false, keepAliveTimeout: 60_000 });
      const timeouts = { connect: 60_000, headers: 60_000, body: 60_000 };
      await transport.exchange({ method: "GET", url: new URL(process.argv[2]), headers: [], timeouts, maxResponseSize: 9 });
      process.stdout.write("done");`;
    const entry = new URL("../../src/node/client/index.ts", import.meta.url).href;
    const args = [
      "--conditions=@fetchwork/source",
      "--input-type=module",
      "-e",
      script,
      entry,
      url,
    ];
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 15_000 });
    expect(stdout).toBe("done");
  });
});

describe("close", () => {
  it("lets running exchanges end, refuses further ones, and may be called twice", async () => {
    const { exchange, close } = bound(
      await start((_request, response) => setTimeout(() => response.end("late"), 50)),
    );
    const running = exchange(requestOf(url));
    const closing = close();
    expect(await rejectionOf(exchange(requestOf(url)))).toMatchObject({
      code: "ERR_HTTP_CLIENT_CLOSED",
    });
    expect(textOf((await running).body)).toBe("late");
    await closing;
    await close();
  });
});

describe("options", () => {
  it.each<[string, object]>([
    ["no connections", { connections: 0 }],
    ["half a connection", { connections: 1.5 }],
    ["a negative time", { keepAliveTimeout: -1 }],
    ["no head", { maxHeaderSize: 0 }],
    ["a text for a switch", { http2: "yes" }],
    ["a number for a switch", { decompress: 1 }],
    ["a text for a function", { lookup: "dns" }],
    ["TLS that is none", { tls: "secret" }],
    ["a certificate without a key", { tls: { cert: "secret" } }],
    ["a key without a certificate", { tls: { key: "secret" } }],
    ["a text for verification", { tls: { rejectUnauthorized: "secret" } }],
    ["a proxy that is none", { proxy: "socks5://user:secret@host" }],
    ["a proxy without an address", { proxy: {} }],
    ["nothing for a proxy", { proxy: null }],
  ])("refuse %s, and show no secret", (_, options) => {
    expect(() => undiciTransport(options)).toThrow(
      expect.objectContaining({
        code: "ERR_HTTP_OPTION",
        message: expect.not.stringContaining("secret") as string,
      }),
    );
  });
});

/** The operations of a transport, free of it. */
function bound(of: Transport): Transport {
  return {
    exchange: (request) => of.exchange(request),
    stream: (request) => of.stream(request),
    close: () => of.close(),
  };
}
