import { once } from "node:events";
import { createServer as createHttps } from "node:https";
import { createSecureServer, type Http2SecureServer, type Http2Session } from "node:http2";
import type { AddressInfo, Server as NetServer } from "node:net";
import type { TLSSocket } from "node:tls";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Transport, WholeResponse } from "../../src/client/transport/transport.ts";
import { undiciTransport, type UndiciTransportOptions } from "../../src/node/client/index.ts";
import { makeCertificates, type Certificates, type KeyPair } from "./certificates.ts";
import { startRaw } from "./raw-server.ts";
import { rejectionOf, requestOf, textOf } from "./requests.ts";

let certificates: Certificates;
let port = 0;
const cleanUps: (() => unknown)[] = [];

beforeAll(() => {
  certificates = makeCertificates();
});

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

async function listen(server: NetServer): Promise<void> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
  cleanUps.push(() => new Promise((resolve) => server.close(resolve)));
}

function transportWith(options: UndiciTransportOptions = {}): Transport {
  const transport = undiciTransport({
    proxy: false,
    tls: { ca: certificates.authority, ...options.tls },
    ...(options.http2 === undefined ? {} : { http2: options.http2 }),
  });
  cleanUps.push(() => transport.close());
  return transport;
}

describe("TLS", () => {
  async function startHttps(pair: KeyPair, wantsClient: boolean = false): Promise<void> {
    const ca = certificates.authority;
    const server = createHttps(
      { ...pair, ca, requestCert: wantsClient, rejectUnauthorized: wantsClient },
      (request, response) => {
        const socket = request.socket as TLSSocket;
        const client = wantsClient ? socket.getPeerCertificate().subject.CN : undefined;
        response.end(
          JSON.stringify({ client, servername: socket.servername, host: request.headers.host }),
        );
      },
    );
    server.on("tlsClientError", () => undefined);
    await listen(server);
  }

  it.each([
    ["selfSigned", "DEPTH_ZERO_SELF_SIGNED_CERT"],
    ["wrongName", "ERR_TLS_CERT_ALTNAME_INVALID"],
    ["expired", "CERT_HAS_EXPIRED"],
  ] as const)("refuses a certificate that is %s with its code", async (kind, systemCode) => {
    await startHttps(certificates[kind]);
    const error = await rejectionOf(
      transportWith().exchange(requestOf(`https://localhost:${port}/`)),
    );
    expect(error).toMatchObject({ code: "ERR_HTTP_CONNECTION", reason: "tls", systemCode });
    expect(error.message).toContain(systemCode);
  });

  it("refuses an authority that is not known", async () => {
    await startHttps(certificates.server);
    const transport = undiciTransport({ proxy: false });
    const error = await rejectionOf(transport.exchange(requestOf(`https://localhost:${port}/`)));
    expect(error).toMatchObject({ reason: "tls" });
    await transport.close();
  });

  it("refuses a server that speaks no TLS", async () => {
    const plain = await startRaw(
      () => undefined,
      (socket) => socket.on("data", () => socket.write("HTTP/1.1 400 Bad Request\r\n\r\n")),
    );
    const error = await rejectionOf(
      transportWith().exchange(requestOf(`https://localhost:${plain.port}/`)),
    );
    expect(error).toMatchObject({ reason: "tls" });
    await plain.close();
  });

  it.each(["localhost", "127.0.0.1"])(
    "reaches %s with a certificate that is right",
    async (host) => {
      await startHttps(certificates.server);
      const { status } = await transportWith().exchange(requestOf(`https://${host}:${port}/`));
      expect(status).toBe(200);
    },
  );

  it("asks for the host of the URL, whatever Host says", async () => {
    await startHttps(certificates.server);
    const { body } = await transportWith().exchange(
      requestOf(`https://localhost:${port}/`, { headers: ["host", "other.example"] }),
    );
    expect(JSON.parse(textOf(body))).toEqual({ servername: "localhost", host: "other.example" });
  });

  it("asks for the name that was set", async () => {
    await startHttps(certificates.wrongName);
    const transport = transportWith({ tls: { servername: "other.example" } });
    const { body } = await transport.exchange(requestOf(`https://127.0.0.1:${port}/`));
    expect(JSON.parse(textOf(body))).toMatchObject({ servername: "other.example" });
  });

  it("takes any certificate when told to", async () => {
    await startHttps(certificates.selfSigned);
    const transport = transportWith({ tls: { rejectUnauthorized: false } });
    const { status } = await transport.exchange(requestOf(`https://localhost:${port}/`));
    expect(status).toBe(200);
  });

  it("shows its own certificate, and fails without one", async () => {
    await startHttps(certificates.server, true);
    const url = `https://localhost:${port}/`;
    const mutual = transportWith({ tls: certificates.client });
    const { body } = await mutual.exchange(requestOf(url));
    expect(JSON.parse(textOf(body))).toMatchObject({ client: "client" });
    const error = await rejectionOf(transportWith().exchange(requestOf(url)));
    expect(error).toMatchObject({ code: "ERR_HTTP_CONNECTION" });
  });

  it("counts the handshake as connecting", async () => {
    const silent = await startRaw(() => undefined);
    const timeouts = { connect: 50, headers: 5_000, body: 5_000 };
    const error = await rejectionOf(
      transportWith().exchange(requestOf(`https://localhost:${silent.port}/`, { timeouts })),
    );
    expect(error).toMatchObject({ code: "ERR_HTTP_TIMEOUT", phase: "connect", limit: 50 });
    // A busy machine may not have accepted the connection before the limit.
    const [socket] = silent.sockets;
    if (socket && !socket.closed) await once(socket, "close");
    await silent.close();
  });
});

describe("HTTP/2", () => {
  const sessions: Http2Session[] = [];

  async function startHttp2(): Promise<Http2SecureServer> {
    sessions.length = 0;
    const server = createSecureServer({ ...certificates.server, allowHTTP1: true });
    server.on("session", (session) => sessions.push(session));
    server.on("sessionError", () => undefined);
    await listen(server);
    cleanUps.push(() => {
      for (const session of sessions) session.destroy();
    });
    server.on("request", (request, response) => {
      const chunks: Buffer[] = [];
      request.on("error", () => undefined);
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        response.setHeader("set-cookie", ["a=1", "b=2"]);
        response.setHeader("x-version", request.httpVersion);
        response.end(`${request.method} ${request.url} ${Buffer.concat(chunks).toString()}`);
      });
    });
    return server;
  }

  it("is spoken where the server chooses it, over one connection", async () => {
    await startHttp2();
    const transport = transportWith();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        transport.exchange(
          requestOf(`https://localhost:${port}/${index}`, { method: "POST", body: `n${index}` }),
        ),
      ),
    );
    expect(answers.map(({ body }) => textOf(body))).toEqual(
      Array.from({ length: 20 }, (_, index) => `POST /${index} n${index}`),
    );
    expect(answers[0]?.headers).toEqual(
      expect.arrayContaining(["set-cookie", "a=1", "b=2", "x-version", "2.0"]),
    );
    expect(sessions).toHaveLength(1);
  });

  it("is not spoken when it is switched off", async () => {
    await startHttp2();
    const { headers } = await transportWith({ http2: false }).exchange(
      requestOf(`https://localhost:${port}/`),
    );
    expect(headers[headers.indexOf("x-version") + 1]).toBe("1.1");
    expect(sessions).toHaveLength(0);
  });

  it("streams both ways", async () => {
    await startHttp2();
    const { body, status } = await transportWith().stream(
      requestOf(`https://localhost:${port}/s`, {
        method: "PUT",
        body: new Blob(["some ", "pieces"]).stream(),
      }),
    );
    expect([status, await new Response(body).text()]).toEqual([200, "PUT /s some pieces"]);
  });

  it("stops a stream that is cancelled, and keeps the connection", async () => {
    const server = await startHttp2();
    const ended = new Promise<void>((resolve) => {
      server.removeAllListeners("request");
      server.on("request", (request, response) => {
        if (request.url === "/after") {
          response.end("after");
          return;
        }
        response.on("close", () => resolve());
        response.on("error", () => undefined);
        const more = (): void => {
          if (!response.stream.destroyed) response.write(Buffer.alloc(1_000), more);
        };
        more();
      });
    });
    const transport = transportWith();
    const { body } = await transport.stream(
      requestOf(`https://localhost:${port}/endless`, { maxResponseSize: Infinity }),
    );
    await body.cancel();
    const after = await transport.exchange(requestOf(`https://localhost:${port}/after`));
    expect(textOf(after.body)).toBe("after");
    await ended;
    expect(sessions).toHaveLength(1);
  });

  it("ends with the signal", async () => {
    const server = await startHttp2();
    server.removeAllListeners("request");
    const arrived = new Promise((resolve) => server.once("request", resolve));
    const controller = new AbortController();
    const exchange = transportWith().exchange(
      requestOf(`https://localhost:${port}/`, { signal: controller.signal }),
    );
    await arrived;
    controller.abort(new Error("enough"));
    const error = await rejectionOf(exchange);
    expect(error).toMatchObject({ code: "ERR_HTTP_ABORTED", cause: controller.signal.reason });
  });

  it("reports a stream that the server resets", async () => {
    const server = await startHttp2();
    server.removeAllListeners("request");
    server.on("request", (_request, response) => response.stream.close(2));
    const error = await rejectionOf(
      transportWith().exchange(requestOf(`https://localhost:${port}/`)),
    );
    expect(error).toMatchObject({ code: "ERR_HTTP_PROTOCOL" });
  });

  it("survives a session that ends with an error, whatever is asked at once after it", async () => {
    const server = await startHttp2();
    server.removeAllListeners("request");
    server.on("request", ({ url }, response) => {
      if (url === "/wrong") response.setHeader("content-length", "1");
      response.end("three");
    });
    const transport = transportWith();
    const ask = (path: string): Promise<WholeResponse> =>
      transport.exchange(requestOf(`https://localhost:${port}${path}`));
    await ask("/");
    expect(await rejectionOf(ask("/wrong"))).toMatchObject({ code: "ERR_HTTP_PROTOCOL" });
    const answers = await Promise.all([ask("/a"), ask("/b"), ask("/c")]);
    expect(answers.map(({ body }) => textOf(body))).toEqual(["three", "three", "three"]);
    expect(sessions).toHaveLength(2);
  });

  it("is held to the limit of a head as well", async () => {
    const server = await startHttp2();
    server.removeAllListeners("request");
    server.on("request", (_request, response) => {
      for (let index = 0; index < 20; index += 1)
        response.setHeader(`x-${index}`, "a".repeat(1000));
      response.end();
    });
    const error = await rejectionOf(
      transportWith().exchange(requestOf(`https://localhost:${port}/`)),
    );
    expect(error).toMatchObject({ code: "ERR_HTTP_TOO_LARGE", limit: 16_384 });
  });

  it("does not wait for a head forever", async () => {
    const server = await startHttp2();
    server.removeAllListeners("request");
    const timeouts = { connect: 5_000, headers: 50, body: 50 };
    const error = await rejectionOf(
      transportWith().exchange(requestOf(`https://localhost:${port}/`, { timeouts })),
    );
    expect(error).toMatchObject({ code: "ERR_HTTP_TIMEOUT", phase: "headers", limit: 50 });
  });
});
