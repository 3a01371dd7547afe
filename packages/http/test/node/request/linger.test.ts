import { connect, type Socket } from "node:net";
import { request as httpRequest } from "node:http";
import { once } from "node:events";
import { connect as connectTls } from "node:tls";
import { afterEach, describe, expect, it } from "vitest";
import { text, type Handler } from "../../../src/index.ts";
import { serve, type RunningServer, type ServeOptions } from "../../../src/node/index.ts";
import { makeCertificates } from "../../node-client/certificates.ts";
import { RawClient } from "../raw-client.ts";

// The last response of a connection whose client is still sending: RFC 9112, section 9.6.

const mebibyte = 1_048_576;
// More than the buffers of two sockets hold.
const content = "x".repeat(12 * mebibyte);
let server: RunningServer | undefined;
const handled: string[] = [];

async function start(handler: Handler, options: ServeOptions = {}): Promise<RunningServer> {
  handled.length = 0;
  server = await serve(
    (request, context) => {
      handled.push(request.method);
      return handler(request, context);
    },
    {
      port: 0,
      hostname: "127.0.0.1",
      signals: false,
      maxRequestBodySize: 64 * mebibyte,
      ...options,
    },
  );
  return server;
}

afterEach(async () => {
  await server?.close({ gracePeriod: 0 });
  server = undefined;
});

const refuse: Handler = () => text("too large", { status: 413 });
const refuseAndClose: Handler = () =>
  text("too large", { status: 413, headers: { connection: "close" } });
const read: Handler = async (request) => text(await request.text());
const limited: ServeOptions = { maxRequestBodySize: mebibyte };

/**
 * Sends everything, and only then reads to the end of the connection. Fails when the connection is
 * reset.
 */
function sendThenRead(
  port: number,
  bytes: string,
  socket: Socket = connect({ port, host: "127.0.0.1" }),
): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = "";
    socket.setEncoding("latin1");
    socket.pause();
    socket.on("data", (piece) => {
      received += String(piece);
    });
    socket.on("error", reject).on("end", () => resolve(received));
    socket.write(bytes, "latin1", () => {
      // In the meantime a server that does not wait would have closed.
      setTimeout(() => socket.resume(), 100);
    });
  });
}

const post = (fields: string, version = "1.1"): string =>
  `POST / HTTP/${version}\r\nHost: a\r\n${fields}\r\n`;
const length = `Content-Length: ${content.length}\r\n`;
const chunked = "Transfer-Encoding: chunked\r\n";
const chunk = `${content.length.toString(16)}\r\n${content}\r\n`;
const close = "Connection: close\r\n";

interface Case {
  readonly status: number;
  readonly bytes: string;
  readonly handler?: Handler;
  readonly options?: ServeOptions;
}

/** Each client sends 12 MiB before it reads. */
const cases: Readonly<Record<string, Case>> = {
  "announces more than the limit": { status: 413, bytes: post(length) + content, options: limited },
  "asks for the end": { status: 413, bytes: post(length + close) + content },
  "asks for the end, with chunks": {
    status: 413,
    bytes: `${post(chunked + close)}${chunk}0\r\n\r\n`,
  },
  "speaks HTTP/1.0": { status: 413, bytes: post(length, "1.0") + content },
  "gets a response that closes": {
    status: 413,
    bytes: post(length) + content,
    handler: refuseAndClose,
  },
  "gets a response that closes, with chunks": {
    status: 413,
    bytes: `${post(chunked)}${chunk}0\r\n\r\n`,
    handler: refuseAndClose,
  },
  "announces more than what is discarded": {
    status: 413,
    bytes: `${post(`Content-Length: ${32 * mebibyte}\r\n`)}${content}`,
  },
  "sends an invalid chunk": {
    status: 400,
    bytes: `${post(chunked)}many\r\n${content}`,
    handler: read,
  },
  "sends too much of a chunk extension": {
    status: 413,
    bytes: `${post(chunked)}1;a=${content}`,
    handler: read,
  },
  "sends a head that is too large": { status: 431, bytes: `GET /?${content}` },
  "has a bad host": {
    status: 400,
    bytes: `${post(length).replace("Host: a", "Host: a b")}${content}`,
  },
};

describe("the last response reaches a client that reads after it has sent all, when it", () => {
  it.each(Object.entries(cases))("%s", async (_what, { bytes, status, handler, options }) => {
    const { port } = await start(handler ?? refuse, options);
    const received = await sendThenRead(port, bytes);
    expect(received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [^]*connection: close`, "i"));
    expect(received.match(/^HTTP\/1\.1 \d+/gm)).toHaveLength(1);
  });
});

it("the last response reaches a client of TLS too", async () => {
  const { server: tls } = makeCertificates();
  const { port } = await start(refuse, { tls });
  const client = connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false });
  await once(client, "secureConnect");
  const received = await sendThenRead(port, post(length + close) + content, client);
  expect(received).toMatch(/^HTTP\/1\.1 413 [^]*too large$/);
});

it("a lingering server does not handle what follows the last response", async () => {
  const { port } = await start(refuseAndClose);
  const get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  const received = await sendThenRead(port, post(length) + content + get + get);
  expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 413"]);
  expect(handled).toEqual(["POST"]);
});

it("a lingering server lets clients that are still sending read the rejection: node:http and fetch()", async () => {
  const { port, url } = await start(refuse, limited);
  for (let round = 0; round < 5; round += 1) {
    const request = httpRequest({ port, host: "127.0.0.1", method: "POST" }).end(content);
    const [{ statusCode }] = (await once(request, "response")) as [{ readonly statusCode: number }];
    request.destroy();
    const { status } = await fetch(url, { method: "POST", body: content });
    expect([statusCode, status]).toEqual([413, 413]);
  }
});

it.each<[string, Handler, string]>([
  ["was rejected", refuse, post(`Content-Length: ${99 * mebibyte}\r\n`)],
  ["got a response that closes", refuseAndClose, post(chunked)],
])(
  "a lingering server does not let a client send forever that %s",
  async (_what, handler, head) => {
    const { port } = await start(handler);
    const client = new RawClient(port);
    client.send(head);
    const flood = (): void => {
      while (client.socket.writable && client.socket.write(chunk));
    };
    client.socket.on("drain", flood);
    flood();
    expect(await client.closed).toMatch(/^HTTP\/1\.1 413 /);
  },
);

it("the server waits at most 3 seconds for a client that does not close", async () => {
  const { port } = await start(refuseAndClose);
  const client = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  client.on("error", () => undefined).resume();
  client.write(post(length));
  await once(client, "end");
  const began = performance.now();
  // What it sends is discarded until the server has closed.
  const timer = setInterval(() => client.write("x"), 50);
  await new Promise((resolve) => client.once("close", resolve));
  clearInterval(timer);
  expect(performance.now() - began).toBeGreaterThan(2_500);
  expect(performance.now() - began).toBeLessThan(6_000);
});

it("a lingering server does not hold up the stop of the server longer than the grace period", async () => {
  const running = await start(refuseAndClose);
  const client = connect({ port: running.port, host: "127.0.0.1", allowHalfOpen: true });
  client.on("error", () => undefined).resume();
  client.write(post(length));
  await once(client, "end");
  const began = performance.now();
  await running.close({ gracePeriod: 100 });
  expect(performance.now() - began).toBeLessThan(2_000);
  client.destroy();
});
