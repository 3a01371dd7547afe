import { afterEach, describe, expect, it } from "vitest";
import type { Handler } from "../../../src/index.ts";
import { serve, type RunningServer } from "../../../src/node/index.ts";
import { exchange, RawClient } from "../raw-client.ts";

let server: RunningServer | undefined;
const reported: unknown[] = [];

async function start(handler: Handler): Promise<RunningServer> {
  reported.length = 0;
  server = await serve(handler, {
    port: 0,
    hostname: "127.0.0.1",
    signals: false,
    reportError: (error) => reported.push(error),
  });
  return server;
}

afterEach(async () => {
  await server?.close({ gracePeriod: 0 });
});

const once = (method: string): string =>
  `${method} / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;

function formOf(entries: Record<string, string | Blob>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(entries)) form.set(name, value);
  return form;
}

const bodies: [string, () => BodyInit | null][] = [
  ["text", () => "grüße"],
  ["empty text", () => ""],
  ["a megabyte of text", () => "x".repeat(1_000_000)],
  ["bytes", () => new Uint8Array([1, 2, 3])],
  ["an ArrayBuffer", () => new Uint8Array([1, 2, 3]).buffer],
  ["search parameters", () => new URLSearchParams({ a: "1" })],
  ["a form", () => formOf({ a: "1", b: "2" })],
  ["a form with a file", () => formOf({ a: "1", file: new File(["hello"], "a.txt") })],
  ["a blob", () => new Blob(["hello"])],
  ["a blob of parts", () => new Blob(["hello", new Uint8Array(5)])],
  ["nothing", () => null],
];

describe.each(bodies)("a Response of the platform with %s", (_, makeBody) => {
  it("is sent with its Content-Length, and not in chunks", async () => {
    const { port } = await start(() => new Response(makeBody()));
    const answer = await exchange(port, once("GET"));
    const [head = "", ...rest] = answer.split("\r\n\r\n");
    expect(head).not.toMatch(/transfer-encoding/i);
    expect(/content-length: (\d+)/i.exec(head)?.[1]).toBe(String(rest.join("\r\n\r\n").length));
    expect(reported).toEqual([]);
  });

  it("is sent over a connection that stays open for the next request", async () => {
    const { url } = await start(() => new Response(makeBody()));
    for (let count = 0; count < 2; count += 1) {
      const response = await fetch(url);
      expect(Number(response.headers.get("content-length"))).toBe(
        (await response.bytes()).byteLength,
      );
    }
  });
});

it("a Response of the platform has the same Content-Length for HEAD and for GET", async () => {
  const { port } = await start(() => new Response("abc"));
  const answer = await exchange(port, once("HEAD"));
  expect(answer).toMatch(/content-length: 3\r\n/i);
  expect(answer).toMatch(/\r\n\r\n$/);
});

it("a stream is cancelled, and has no Content-Length, in the response to HEAD", async () => {
  const cancelled = Promise.withResolvers<void>();
  const { port } = await start(
    () => new Response(new ReadableStream({ cancel: () => cancelled.resolve() })),
  );
  expect(await exchange(port, once("HEAD"))).not.toMatch(/content-length/i);
  await cancelled.promise;
});

it("the first chunk of a slow stream does not wait for the second", async () => {
  const second = Promise.withResolvers<void>();
  const { port } = await start(
    () =>
      new Response(
        new ReadableStream({
          async start(controller) {
            controller.enqueue(Buffer.from("one"));
            await second.promise;
            controller.enqueue(Buffer.from("two"));
            controller.close();
          },
        }),
      ),
  );
  const client = new RawClient(port);
  client.send(once("GET"));
  await client.until(/3\r\none\r\n$/);
  second.resolve();
  expect(await client.closed).toMatch(/3\r\ntwo\r\n0\r\n\r\n$/);
});

it("a stream of more than 64 KiB in one turn is sent in chunks", async () => {
  const { url } = await start(
    () =>
      new Response(
        new ReadableStream({
          start(controller) {
            for (let count = 0; count < 10; count += 1) controller.enqueue(new Uint8Array(20_000));
            controller.close();
          },
        }),
      ),
  );
  const response = await fetch(url);
  expect(response.headers.get("content-length")).toBeNull();
  expect((await response.bytes()).byteLength).toBe(200_000);
});

it("a stream that fails right after its first chunk is a 500", async () => {
  let pulls = 0;
  const { url } = await start(
    () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            pulls += 1;
            if (pulls === 1) controller.enqueue(Buffer.from("part"));
            else controller.error(new Error("disk"));
          },
        }),
      ),
  );
  expect((await fetch(url)).status).toBe(500);
  expect(reported).toEqual([new Error("disk")]);
});

it("a stream is cancelled when its client leaves before the second chunk", async () => {
  const cancelled = Promise.withResolvers<void>();
  const { port } = await start(
    () =>
      new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(Buffer.from("one")),
          cancel: () => cancelled.resolve(),
        }),
      ),
  );
  const client = new RawClient(port);
  client.send(once("GET"));
  await client.until(/one/);
  client.reset();
  await cancelled.promise;
});
