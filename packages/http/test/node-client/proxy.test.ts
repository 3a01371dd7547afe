import { createServer as createHttp, type IncomingMessage, type Server } from "node:http";
import { createServer as createHttps } from "node:https";
import { connect, type AddressInfo, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { inspect } from "node:util";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Transport } from "../../src/client/transport/transport.ts";
import { undiciTransport, type UndiciTransportOptions } from "../../src/node/client/index.ts";
import { makeCertificates, type Certificates } from "./certificates.ts";
import { startRaw } from "./raw-server.ts";
import { rejectionOf, requestOf, textOf } from "./requests.ts";

let certificates: Certificates;
const cleanUps: (() => unknown)[] = [];

beforeAll(() => {
  certificates = makeCertificates();
});

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

/** What a proxy was asked for. */
interface Asked {
  readonly line: string;
  readonly headers: IncomingMessage["headers"];
}

interface ProxyServer {
  readonly port: number;
  readonly asked: readonly Asked[];
}

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanUps.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

/**
 * A proxy that forwards every target to the server at `to`, whatever its name, if the credentials
 * are right.
 */
async function startProxy(
  to: number,
  { wants, secure = false }: { readonly wants?: string; readonly secure?: boolean } = {},
): Promise<ProxyServer> {
  const asked: Asked[] = [];
  const refuses = (request: IncomingMessage): boolean => {
    asked.push({ line: `${request.method} ${request.url}`, headers: request.headers });
    return wants !== undefined && request.headers["proxy-authorization"] !== wants;
  };
  const server = secure ? createHttps(certificates.server) : createHttp();
  server.on("request", (request, response) => {
    if (refuses(request)) response.writeHead(407, { "proxy-authenticate": "Basic" });
    response.end(response.statusCode === 407 ? "" : "forwarded");
  });
  server.on("connect", (request: IncomingMessage, socket: Duplex) => {
    if (refuses(request)) {
      socket.end("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n");
      return;
    }
    const target = connect(to, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      socket.pipe(target).pipe(socket);
    });
    socket.on("error", () => target.destroy());
    target.on("error", () => socket.destroy());
  });
  return { port: await listen(server), asked };
}

async function startTarget(): Promise<number> {
  return listen(
    createHttps(certificates.server, (request, response) => {
      response.end(JSON.stringify({ url: request.url, headers: request.headers }));
    }),
  );
}

function transportWith(options: UndiciTransportOptions): Transport {
  const transport = undiciTransport({ tls: { ca: certificates.authority }, ...options });
  cleanUps.push(() => transport.close());
  return transport;
}

const basic = `Basic ${Buffer.from("us er:p@ss").toString("base64")}`;

describe("a proxy", () => {
  it("gets a tunnel for https:, and nothing of the request", async () => {
    const target = await startTarget();
    const proxy = await startProxy(target, { wants: basic });
    const transport = transportWith({ proxy: `http://us%20er:p%40ss@127.0.0.1:${proxy.port}` });
    const { body } = await transport.exchange(
      requestOf("https://localhost:8443/path?q=1", { headers: ["authorization", "Bearer t"] }),
    );
    const seen = JSON.parse(textOf(body)) as { url: string; headers: Record<string, string> };
    expect(seen.url).toBe("/path?q=1");
    expect(seen.headers).toMatchObject({ host: "localhost:8443", authorization: "Bearer t" });
    expect(seen.headers).not.toHaveProperty("proxy-authorization");
    expect(proxy.asked).toHaveLength(1);
    expect(proxy.asked[0]?.line).toBe("CONNECT localhost:8443");
    expect(proxy.asked[0]?.headers).toEqual({
      host: "localhost:8443",
      "proxy-authorization": basic,
      connection: "close",
    });
  });

  it("keeps the tunnel for further requests", async () => {
    const proxy = await startProxy(await startTarget());
    const transport = transportWith({ proxy: `http://127.0.0.1:${proxy.port}`, connections: 1 });
    for (let round = 0; round < 3; round += 1) {
      await transport.exchange(requestOf("https://localhost/"));
    }
    expect(proxy.asked.map(({ line }) => line)).toEqual(["CONNECT localhost:443"]);
  });

  it("forwards http: requests, with its credentials and the target's host", async () => {
    const proxy = await startProxy(0, { wants: "Bearer token" });
    const transport = transportWith({
      proxy: { url: new URL(`http://127.0.0.1:${proxy.port}`), authorization: "Bearer token" },
    });
    const { body } = await transport.exchange(
      requestOf("http://target.example/a?b=c", { headers: ["x-a", "1", "x-a", "2"] }),
    );
    expect(textOf(body)).toBe("forwarded");
    expect(proxy.asked[0]).toMatchObject({
      line: "GET http://target.example/a?b=c",
      headers: { host: "target.example", "proxy-authorization": "Bearer token", "x-a": "1, 2" },
    });
  });

  it("may be reached by TLS itself", async () => {
    const proxy = await startProxy(await startTarget(), { secure: true });
    const transport = transportWith({
      proxy: { url: `https://localhost:${proxy.port}`, tls: { ca: certificates.authority } },
    });
    const tunnelled = await transport.exchange(requestOf("https://localhost:8443/"));
    expect(tunnelled.status).toBe(200);
    const forwarded = await transport.exchange(requestOf("http://target.example/"));
    expect(textOf(forwarded.body)).toBe("forwarded");
  });

  it.each(["http://target.example/", "https://target.example/"])(
    "that wants other credentials fails %s, and none are shown",
    async (url) => {
      const proxy = await startProxy(0, { wants: basic });
      const transport = transportWith({ proxy: `http://user:hunter2@127.0.0.1:${proxy.port}` });
      const error = await rejectionOf(transport.exchange(requestOf(url)));
      expect(error).toMatchObject({ code: "ERR_HTTP_CONNECTION", reason: "proxy" });
      expect(error.message).toContain("407");
      expect(inspect(error, { depth: 9 })).not.toMatch(/hunter2|dXNlc/);
    },
  );

  it("that is not there fails as a proxy", async () => {
    const gone = await startRaw(() => undefined);
    await gone.close();
    const transport = transportWith({ proxy: `http://127.0.0.1:${gone.port}` });
    const error = await rejectionOf(transport.exchange(requestOf("https://target.example/")));
    expect(error).toMatchObject({ reason: "proxy", systemCode: "ECONNREFUSED" });
  });

  it.each([
    ["answers no HTTP", "SSH-2.0\r\n\r\n"],
    ["closes", ""],
  ])("that %s fails as a proxy", async (_, written) => {
    const strange = await startRaw((socket) => socket.end(written));
    cleanUps.push(() => strange.close());
    const transport = transportWith({ proxy: `http://127.0.0.1:${strange.port}` });
    const error = await rejectionOf(transport.exchange(requestOf("https://target.example/")));
    expect(error).toMatchObject({ reason: "proxy" });
  });

  it("that does not answer meets the limit for connecting, and is left", async () => {
    const silent = await startRaw(() => undefined);
    cleanUps.push(() => silent.close());
    const transport = transportWith({ proxy: `http://127.0.0.1:${silent.port}` });
    const timeouts = { connect: 50, headers: 5_000, body: 5_000 };
    const error = await rejectionOf(
      transport.exchange(requestOf("https://target.example/", { timeouts })),
    );
    expect(error).toMatchObject({ code: "ERR_HTTP_TIMEOUT", phase: "connect" });
    await new Promise((resolve) => silent.sockets[0]?.once("close", resolve));
  });

  it("does not spare the target's certificate", async () => {
    const proxy = await startProxy(await startTarget());
    const transport = transportWith({ proxy: `http://127.0.0.1:${proxy.port}` });
    const error = await rejectionOf(transport.exchange(requestOf("https://target.example/")));
    expect(error).toMatchObject({ reason: "tls", systemCode: "ERR_TLS_CERT_ALTNAME_INVALID" });
  });

  it("is passed by for what noProxy names", async () => {
    const target = await startTarget();
    const proxy = await startProxy(target);
    const transport = transportWith({
      proxy: { url: `http://127.0.0.1:${proxy.port}`, noProxy: "localhost" },
    });
    await transport.exchange(requestOf(`https://localhost:${target}/`));
    expect(proxy.asked).toHaveLength(0);
  });

  it("may be named by the environment, as it is when the transport is made", async () => {
    const proxy = await startProxy(0);
    const before = process.env["http_proxy"];
    process.env["http_proxy"] = `http://127.0.0.1:${proxy.port}`;
    const transport = transportWith({});
    if (before === undefined) delete process.env["http_proxy"];
    else process.env["http_proxy"] = before;
    const { body } = await transport.exchange(requestOf("http://target.example/"));
    expect(textOf(body)).toBe("forwarded");
  });

  it.each([
    ["a header with a line break", { authorization: "a\r\nb: c" }],
    ["a list that is none", { noProxy: 1 }],
  ])("is refused with %s", (_, wrong) => {
    const proxy = { url: "http://proxy", ...wrong } as UndiciTransportOptions["proxy"];
    expect(() => undiciTransport({ proxy })).toThrow(
      expect.objectContaining({ code: "ERR_HTTP_OPTION" }),
    );
  });
});
