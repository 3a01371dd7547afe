import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import * as zlib from "node:zlib";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ProtocolError, TooLargeError } from "../../src/client/transport/transport-errors.ts";
import type { Transport } from "../../src/client/transport/transport.ts";
import { decodeWhole, readCodings } from "../../src/node/client/content-coding.ts";
import { undiciTransport } from "../../src/node/client/index.ts";
import { rejectionOf, requestOf, textOf, valuesOf } from "./requests.ts";

let server: Server;
let transport: Transport;
let url: string;
let answer: { status?: number; coding: string; body: Uint8Array };
let asked: string | undefined;

beforeEach(async () => {
  server = createServer((request, response) => {
    asked = request.headers["accept-encoding"];
    const { status = 200, coding, body } = answer;
    response.writeHead(status, { "content-encoding": coding, "content-length": body.byteLength });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  transport = undiciTransport({ proxy: false });
});

afterEach(async () => {
  await transport.close();
  await new Promise((resolve) => server.close(resolve));
});

const short = Buffer.from("some text ".repeat(50));
const long = Buffer.from(Array.from({ length: 200_000 }, (_, index) => (index * index * 7) >> 5));

const codings: [string, (body: Uint8Array) => Uint8Array][] = [
  ["gzip", (body) => zlib.gzipSync(body)],
  ["X-GZIP", (body) => zlib.gzipSync(body)],
  ["deflate", (body) => zlib.deflateSync(body)],
  ["deflate", (body) => zlib.deflateRawSync(body)],
  ["br", (body) => zlib.brotliCompressSync(body)],
  ["identity, gzip", (body) => zlib.gzipSync(body)],
  ["br, gzip", (body) => zlib.gzipSync(zlib.brotliCompressSync(body))],
  ["gzip, br, deflate", (body) => zlib.deflateSync(zlib.brotliCompressSync(zlib.gzipSync(body)))],
];

describe.each(codings)("%s", (coding, encode) => {
  it.each([
    ["short", short],
    ["long", long],
  ])("is taken off a %s body, whole and streamed", async (_, plain) => {
    answer = { coding, body: encode(plain) };
    const whole = await transport.exchange(requestOf(url));
    expect(Buffer.compare(whole.body, plain)).toBe(0);
    expect(valuesOf(whole.headers, "content-encoding")).toEqual([]);
    expect(valuesOf(whole.headers, "content-length")).toEqual([]);
    const streamed = await transport.stream(requestOf(url));
    const bytes = new Uint8Array(await new Response(streamed.body).arrayBuffer());
    expect(Buffer.compare(bytes, plain)).toBe(0);
  });

  it.each([
    ["truncated", (body: Uint8Array) => body.subarray(0, -3)],
    ["corrupt", (body: Uint8Array) => body.map((byte, index) => (index > 3 ? byte ^ 0x55 : byte))],
  ])("that is %s is a protocol error", async (_, spoil) => {
    for (const plain of [short, long]) {
      answer = { coding, body: spoil(encode(plain)) };
      const error = await rejectionOf(transport.exchange(requestOf(url)));
      expect(error).toBeInstanceOf(ProtocolError);
      const { body } = await transport.stream(requestOf(url));
      const streamed = await rejectionOf(new Response(body).arrayBuffer());
      expect(streamed).toBeInstanceOf(ProtocolError);
    }
  });

  it("is held to the limit of what comes out", async () => {
    answer = { coding, body: encode(Buffer.alloc(50_000)) };
    const request = requestOf(url, { maxResponseSize: 49_999 });
    expect(await rejectionOf(transport.exchange(request))).toBeInstanceOf(TooLargeError);
    const { body } = await transport.stream(request);
    expect(await rejectionOf(new Response(body).arrayBuffer())).toBeInstanceOf(TooLargeError);
    const exact = await transport.exchange(requestOf(url, { maxResponseSize: 50_000 }));
    expect(exact.body.byteLength).toBe(50_000);
  });
});

it.each(["compress", "gzip, compress", "gzip, gzip, gzip, gzip", "évil"])(
  "the transport leaves %s as it is, header and all",
  async (coding) => {
    const field = Buffer.from(coding).toString("latin1");
    answer = { coding: field, body: short };
    const { body, headers } = await transport.exchange(requestOf(url));
    expect(textOf(body)).toBe(short.toString());
    expect(valuesOf(headers, "content-encoding")).toEqual([field]);
  },
);

it("the transport leaves a part of a coded body as it is", async () => {
  answer = { status: 206, coding: "gzip", body: short };
  const { body } = await transport.exchange(requestOf(url));
  expect(textOf(body)).toBe(short.toString());
});

it("the transport takes an empty body for an empty one", async () => {
  answer = { coding: "gzip", body: new Uint8Array(0) };
  expect((await transport.exchange(requestOf(url))).body.byteLength).toBe(0);
  const { body } = await transport.stream(requestOf(url));
  expect(await new Response(body).text()).toBe("");
});

it("the transport asks for what it knows, unless the caller asks", async () => {
  answer = { coding: "gzip", body: zlib.gzipSync(short) };
  await transport.exchange(requestOf(url));
  expect(asked).toBe("gzip, deflate, br");
  await transport.exchange(requestOf(url, { headers: ["accept-encoding", "gzip;q=0.5"] }));
  expect(asked).toBe("gzip;q=0.5");
});

it("neither asks nor decodes when it is told not to", async () => {
  answer = { coding: "gzip", body: zlib.gzipSync(short) };
  const raw = undiciTransport({ proxy: false, decompress: false });
  const { body, headers } = await raw.exchange(requestOf(url));
  expect(asked).toBeUndefined();
  expect(zlib.gunzipSync(body).toString()).toBe(short.toString());
  expect(valuesOf(headers, "content-encoding")).toEqual(["gzip"]);
  await raw.close();
});

it.each(["gzip", "zstd"])("the transport has all of a body of two parts in %s", async (coding) => {
  const compress = coding === "gzip" ? zlib.gzipSync : zlib.zstdCompressSync;
  const parts = Buffer.concat([compress("one, "), compress("two")]);
  answer = { coding, body: parts };
  const { body, headers } = await transport.exchange(requestOf(url));
  const isDecoded = valuesOf(headers, "content-encoding").length === 0;
  expect(Buffer.from(body).equals(isDecoded ? Buffer.from("one, two") : parts)).toBe(true);
});

it("the transport decodes or refuses any bytes, and never returns more than the limit", async () => {
  const names = fc.constantFrom("gzip", "deflate", "br", "gzip, br");
  const plain = fc.uint8Array({ maxLength: 400 });
  await fc.assert(
    fc.asyncProperty(names, plain, fc.nat(500), async (name, bytes, limit) => {
      const known = readCodings(name);
      if (known === undefined) throw new Error(name);
      const noise = Promise.resolve().then(() => decodeWhole(bytes, known, limit));
      const decoded = await noise.catch(() => new Uint8Array(0));
      expect(decoded.byteLength).toBeLessThanOrEqual(Math.max(limit, 1));
    }),
  );
});
