import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import {
  connect,
  constants,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type Http2Stream,
} from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { BodyTooLargeError, readBody } from "@fetchwork/kit";
import { text, type FinishReport, type Handler } from "../../../src/index.ts";
import {
  nodeMessages,
  serve,
  type RunningServer,
  type ServeOptions,
} from "../../../src/node/index.ts";

const mebibyte = 1_048_576;

let folder: string;
let tls: { readonly cert: string; readonly key: string };
let server: RunningServer | undefined;
let session: ClientHttp2Session | undefined;
const reported: unknown[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "fetchwork-unread-"));
  const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
  execFileSync(
    "openssl",
    ["req", "-x509", ...curve, "-days", "2", ...subject, "-keyout", files.key, "-out", files.cert],
    { stdio: "ignore" },
  );
  tls = { cert: readFileSync(files.cert, "utf8"), key: readFileSync(files.key, "utf8") };
});

afterAll(() => rmSync(folder, { recursive: true }));

afterEach(async () => {
  vi.useRealTimers();
  session?.destroy();
  await server?.close({ gracePeriod: 0 });
});

/**
 * Starts a server of HTTP/2 and a session with it. Its client takes `window` bytes of a response
 * before it reads.
 */
async function start(handler: Handler, options: ServeOptions = {}, window = 65_535): Promise<void> {
  reported.length = 0;
  server = await serve(handler, {
    port: 0,
    hostname: "127.0.0.1",
    signals: false,
    http2: true,
    tls,
    reportError: (error) => reported.push(error),
    ...options,
  });
  session = connect(server.url, { ca: tls.cert, settings: { initialWindowSize: window } });
  session.on("error", () => undefined);
}

/** Sends a body without a `Content-Length`. */
function post(body: string): ClientHttp2Stream {
  if (session === undefined) throw new Error("no session");
  const opened = session.request({ ":path": "/", ":method": "POST" });
  opened.end(body);
  return opened;
}

/** A body of a number of bytes, which comes in 16 chunks. */
function streamOf(size: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  let count = 0;
  return new ReadableStream({
    pull(controller) {
      if (count === 16) controller.close();
      else controller.enqueue(new Uint8Array(size / 16).fill(120));
      count += 1;
    },
  });
}

it.each<readonly [string, Handler]>([
  [
    "was cancelled",
    async (request) => {
      await request.body?.cancel();
      return text("x".repeat(mebibyte));
    },
  ],
  [
    "was cancelled before a streamed response",
    async (request) => {
      await request.body?.cancel();
      return new Response(streamOf(mebibyte));
    },
  ],
  [
    "is over the limit of readBody()",
    async (request) => {
      const refused = readBody(request.body, { limit: 1000 });
      await expect(refused).rejects.toBeInstanceOf(BodyTooLargeError);
      return text("x".repeat(mebibyte));
    },
  ],
  [
    "is over the limit of text()",
    async (request) => {
      await expect(request.text()).rejects.toBeInstanceOf(BodyTooLargeError);
      return text("x".repeat(mebibyte));
    },
  ],
  [
    "is over the limit of text() after body was looked at",
    async (request) => {
      void request.body;
      await expect(request.text()).rejects.toBeInstanceOf(BodyTooLargeError);
      return text("x".repeat(mebibyte));
    },
  ],
  [
    "was read in part",
    async (request) => {
      const reader = request.body?.getReader();
      await reader?.read();
      reader?.releaseLock();
      return text("x".repeat(mebibyte));
    },
  ],
  [
    "is held by a reader that does not go on",
    async (request) => {
      await request.body?.getReader().read();
      return text("x".repeat(mebibyte));
    },
  ],
])("the server ends a stream after the whole response when its body %s", async (_what, respond) => {
  const report = Promise.withResolvers<FinishReport>();
  await start(
    (request, context) => {
      if (request.method === "PUT") return text("next");
      context.onFinish(report.resolve);
      return respond(request, context);
    },
    { maxBodySize: 1000 },
  );
  const opened = post("x".repeat(3 * mebibyte));
  const closed = new Promise((resolve) => opened.once("close", resolve));
  expect(await readText(opened)).toHaveLength(mebibyte);
  await closed;
  expect(opened.rstCode).toBe(constants.NGHTTP2_NO_ERROR);
  expect(await report.promise).toMatchObject({ status: 200, aborted: false });
  const next = session?.request({ ":path": "/", ":method": "PUT" }).end();
  expect(next && (await readText(next))).toBe("next");
  expect(reported).toEqual([]);
});

it("the server reports the end of an exchange whose small body was cancelled", async () => {
  const report = Promise.withResolvers<FinishReport>();
  await start(async (request, context) => {
    context.onFinish(report.resolve);
    await request.body?.cancel();
    return text("ok");
  });
  expect(await readText(post("small"))).toBe("ok");
  expect(await report.promise).toMatchObject({ status: 200, aborted: false });
});

it("the server waits with a cancelled body until the client has room for the end of the response", async () => {
  const size = 1024;
  const finished = Promise.withResolvers<Http2Stream>();
  const sent = Promise.withResolvers<void>();
  await start(
    async (request, context) => {
      const out = nodeMessages(context)?.response;
      if (out === undefined || !("stream" in out)) throw new Error("no stream");
      const own = out.stream as Http2Stream;
      own.once("finish", () => finished.resolve(own));
      await request.body?.cancel();
      return new Response(
        new ReadableStream({
          async start(controller) {
            controller.enqueue(new Uint8Array(size));
            await sent.promise;
            controller.close();
          },
        }),
      );
    },
    {},
    size,
  );
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const opened = post("x".repeat(mebibyte));
  const closed = new Promise((resolve) => opened.once("close", resolve));
  await new Promise((resolve) => opened.once("response", resolve));
  sent.resolve();
  const own = await finished.promise;
  await new Promise(setImmediate);
  vi.advanceTimersByTime(1000);
  expect(own.closed).toBe(false);
  expect(await readText(opened)).toHaveLength(size);
  vi.advanceTimersByTime(1000);
  await closed;
  expect(opened.rstCode).toBe(constants.NGHTTP2_NO_ERROR);
});
