import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request as requestHttp1 } from "node:https";
import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { json, text, type FinishReport, type Handler } from "../../../src/index.ts";
import {
  serve,
  writeEarlyHints,
  type RunningServer,
  type ServeOptions,
} from "../../../src/node/index.ts";

let folder: string;
let cert: string;
let key: string;
let server: RunningServer | undefined;
let session: ClientHttp2Session | undefined;
const reported: unknown[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "fetchwork-tls-"));
  const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const subject = [
    "-subj",
    "/CN=localhost",
    "-addext",
    "subjectAltName=DNS:localhost,IP:127.0.0.1",
  ];
  execFileSync(
    "openssl",
    ["req", "-x509", ...curve, "-days", "2", ...subject, "-keyout", files.key, "-out", files.cert],
    {
      stdio: "ignore",
    },
  );
  cert = readFileSync(files.cert, "utf8");
  key = readFileSync(files.key, "utf8");
});

afterAll(() => rmSync(folder, { recursive: true }));

afterEach(async () => {
  session?.destroy();
  await server?.close({ gracePeriod: 0 });
});

async function start(handler: Handler, options: ServeOptions = {}): Promise<RunningServer> {
  reported.length = 0;
  server = await serve(handler, {
    port: 0,
    hostname: "127.0.0.1",
    signals: false,
    tls: { cert, key },
    reportError: (error) => reported.push(error),
    ...options,
  });
  return server;
}

/** Asks over HTTP/1.1 and returns status and body. */
function ask(url: string, own: object = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = requestHttp1(url, { ca: cert, agent: false, ...own }, (response) => {
      response.setEncoding("utf8");
      let body = "";
      response.on("data", (chunk: string) => {
        body += chunk;
      });
      response.on("end", () => resolve(`${response.statusCode} ${body}`));
    });
    request.on("error", reject);
    request.end();
  });
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: Record<string, unknown>;
  readonly body: string;
}

function stream(path: string, method = "GET", body?: string): ClientHttp2Stream {
  if (session === undefined) throw new Error("no session");
  const opened = session.request({ ":path": path, ":method": method });
  opened.setEncoding("utf8");
  opened.end(body);
  return opened;
}

function answerOf(opened: ClientHttp2Stream): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let headers: Record<string, unknown> = {};
    let body = "";
    opened.on("response", (given) => {
      headers = given;
    });
    opened.on("data", (chunk: string) => {
      body += chunk;
    });
    opened.on("end", () => resolve({ status: Number(headers[":status"]), headers, body }));
    opened.on("error", reject);
  });
}

describe("serve() with TLS", () => {
  it("destroys the connection of a client that does not read", async () => {
    const report = Promise.withResolvers<FinishReport>();
    const { port } = await start(
      (_request, context) => {
        context.onFinish(report.resolve);
        return text("x".repeat(32 * 1024 * 1024));
      },
      { responseTimeout: 100 },
    );
    const client = connectTls({ port, host: "127.0.0.1", ca: cert });
    client.on("error", () => undefined);
    client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(await report.promise).toMatchObject({ status: 200, aborted: true });
    client.destroy();
  });

  it("rejects a client without a certificate when it requires one", async () => {
    const { url } = await start(() => text("mutual"), { tls: { cert, key, ca: cert } });
    await expect(ask(url)).rejects.toThrow();
    expect(await ask(url, { cert, key })).toBe("200 mutual");
  });

  it("lets a slow client read a large response to its end when it stops", async () => {
    const size = 16_000_000;
    const running = await start(() => new Response(new Uint8Array(size)));
    const client = connectTls({ port: running.port, ca: cert });
    client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await once(client, "readable");
    const closing = running.close();
    await pause(1000);
    let received = 0;
    client.on("data", (chunk: Buffer) => void (received += chunk.length));
    await once(client, "close");
    expect(received).toBeGreaterThan(size);
    await closing;
  });

  it("closes connections without a request soon after it stops", async () => {
    const { port } = await start(() => text("x"), { http2: true });
    const unused = connectTls({ port, host: "127.0.0.1", ca: cert, ALPNProtocols: ["http/1.1"] });
    unused.on("error", () => undefined);
    await new Promise((resolve) => unused.once("secureConnect", resolve));
    const gone = new Promise((resolve) => unused.once("close", resolve));
    const begin = performance.now();
    await server?.close();
    expect(performance.now() - begin).toBeLessThan(5_000);
    await gone;
  });

  it("serves HTTPS", async () => {
    const { url } = await start((request) => text(request.url));
    expect(url).toMatch(/^https:/);
    expect(await ask(`${url}x`)).toBe(`200 ${url}x`);
  });
});

describe("serve() with HTTP/2", () => {
  const startHttp2 = async (
    handler: Handler,
    options: ServeOptions = {},
  ): Promise<RunningServer> => {
    const running = await start(handler, { http2: true, ...options });
    session = connect(running.url, { ca: cert });
    session.on("error", () => undefined);
    return running;
  };

  it("falls back to HTTP/1.1", async () => {
    const { url } = await start(() => text("old"), { http2: true });
    expect(await ask(url)).toBe("200 old");
  });

  it.each([
    ["no Host", "GET / HTTP/1.1\r\n\r\n", 400],
    ["no HTTP", "hello\r\n\r\n", 400],
    ["another expectation", "GET / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n", 417],
    ["CONNECT", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 501],
  ])("rejects %s of HTTP/1.1 with a problem", async (_what, bytes, status) => {
    const { port } = await start(() => text("never"), { http2: true });
    const client = connectTls({ port, host: "127.0.0.1", ca: cert, ALPNProtocols: ["http/1.1"] });
    client.setEncoding("utf8");
    let answer = "";
    client.on("data", (chunk: string) => {
      answer += chunk;
    });
    client.write(bytes);
    await new Promise((resolve) => client.once("close", resolve));
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [^]*application/problem\\+json`));
  });

  it("responds with body, Set-Cookie list and address, and reports the end", async () => {
    const report = Promise.withResolvers<FinishReport>();
    await startHttp2(async (request, context) => {
      context.onFinish(report.resolve);
      return json(
        { peer: context.peer, body: await request.text(), method: request.method },
        {
          headers: [
            ["set-cookie", "a=1"],
            ["set-cookie", "b=2"],
            ["connection", "close"],
          ],
        },
      );
    });
    const answer = await answerOf(stream("/x", "POST", "hello"));
    expect(answer.status).toBe(200);
    expect(answer.headers["set-cookie"]).toEqual(["a=1", "b=2"]);
    expect(JSON.parse(answer.body)).toEqual({ peer: "127.0.0.1", body: "hello", method: "POST" });
    expect(await report.promise).toMatchObject({
      status: 200,
      bytes: answer.body.length,
      aborted: false,
    });
  });

  it("responds to HEAD, and with 204, without a body", async () => {
    await startHttp2((request) =>
      request.url.endsWith("/empty") ? new Response(null, { status: 204 }) : text("body"),
    );
    expect(await answerOf(stream("/", "HEAD"))).toMatchObject({ status: 200, body: "" });
    expect(await answerOf(stream("/empty"))).toMatchObject({ status: 204, body: "" });
  });

  it("streams, and resets the stream when the body fails", async () => {
    const fail = Promise.withResolvers<void>();
    await startHttp2(
      () =>
        new Response(
          new ReadableStream({
            start: (controller) => {
              controller.enqueue(Buffer.from("part"));
              void fail.promise.then(() => controller.error(new Error("disk")));
            },
          }),
        ),
    );
    const opened = stream("/");
    await new Promise((resolve) => opened.once("data", resolve));
    fail.resolve();
    await expect(answerOf(opened)).rejects.toThrow("NGHTTP2_INTERNAL_ERROR");
    expect(reported).toEqual([new Error("disk")]);
  });

  it("aborts the signal and cancels the body when the client resets its stream", async () => {
    const report = Promise.withResolvers<FinishReport>();
    const cancelled = Promise.withResolvers<unknown>();
    const aborted = Promise.withResolvers<void>();
    await startHttp2((_request, context) => {
      context.onFinish(report.resolve);
      context.signal.addEventListener("abort", () => aborted.resolve());
      return new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(Buffer.from("part")),
          cancel: cancelled.resolve,
        }),
      );
    });
    const opened = stream("/");
    opened.on("error", () => undefined);
    await new Promise((resolve) => opened.once("data", resolve));
    opened.close(constants.NGHTTP2_CANCEL);
    await Promise.all([aborted.promise, cancelled.promise]);
    expect(await report.promise).toMatchObject({ status: 200, bytes: 4, aborted: true });
    expect(reported).toEqual([]);
  });

  it.each(["GET", "HEAD"])(
    "ends a %s whose client resets its stream before there is a response",
    async (method) => {
      const begun = Promise.withResolvers<void>();
      const report = Promise.withResolvers<FinishReport>();
      await startHttp2(async (request, context) => {
        context.onFinish(report.resolve);
        begun.resolve();
        await once(context.signal, "abort");
        return text(`too late for ${request.method}`);
      });
      const left = stream("/", method);
      await begun.promise;
      left.close(constants.NGHTTP2_CANCEL);
      expect(await report.promise).toMatchObject({ status: 499, aborted: true });
    },
  );

  it("aborts a signal that a handler asks for after the client has reset its stream", async () => {
    const begun = Promise.withResolvers<void>();
    const isAborted = Promise.withResolvers<boolean>();
    await startHttp2(async (_request, context) => {
      const finished = new Promise<FinishReport>((resolve) => context.onFinish(resolve));
      begun.resolve();
      await finished;
      isAborted.resolve(context.signal.aborted);
      return text("too late");
    });
    const left = stream("/", "HEAD");
    await begun.promise;
    left.close(constants.NGHTTP2_CANCEL);
    expect(await isAborted.promise).toBe(true);
  });

  it("resets a stream whose client stops its response", async () => {
    const report = Promise.withResolvers<FinishReport>();
    await startHttp2(
      (request, context) => {
        if (request.url.endsWith("/small")) return text("small");
        context.onFinish(report.resolve);
        return text("x".repeat(1024 * 1024));
      },
      { responseTimeout: 100 },
    );
    const held = stream("/");
    held.on("error", () => undefined);
    expect(await report.promise).toMatchObject({ status: 200, aborted: true });
    expect((await answerOf(stream("/small"))).body).toBe("small");
    expect(reported).toEqual([]);
  });

  it("responds with 500 when the handler fails", async () => {
    await startHttp2(() => {
      throw new Error("broken");
    });
    expect((await answerOf(stream("/"))).status).toBe(500);
  });

  it("sends early hints", async () => {
    await startHttp2((_request, context) => {
      writeEarlyHints(context, ["</a.css>; rel=preload; as=style"]);
      return text("ok");
    });
    const opened = stream("/");
    const hints = new Promise<Record<string, unknown>>((resolve) =>
      opened.once("headers", resolve),
    );
    expect((await hints)["link"]).toBe("</a.css>; rel=preload; as=style");
    expect((await answerOf(opened)).body).toBe("ok");
  });

  it("lets streams in flight and on their way end when it stops, then closes the session", async () => {
    const started = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const running = await startHttp2(async () => {
      started.resolve();
      await release.promise;
      return text("finished");
    });
    const pending = answerOf(stream("/"));
    await started.promise;
    const lastStreams: number[] = [];
    session?.on("goaway", (_code, lastStream) => lastStreams.push(lastStream));
    const closing = running.close();
    release.resolve();
    expect((await pending).body).toBe("finished");
    await closing;
    // The first GOAWAY refuses no stream that its client has opened in the meantime.
    expect(lastStreams[0]).toBe(2 ** 31 - 1);
  });

  it("resets a stream whose body does not arrive in time, and closes an idle session", async () => {
    const running = await start(async (request) => text(await request.text()), {
      http2: true,
      requestTimeout: 150,
      keepAliveTimeout: 300,
    });
    session = connect(running.url, { ca: cert });
    const opened = session.request({ ":path": "/", ":method": "POST" });
    opened.write("part");
    // A stream that is reset with CANCEL ends without an "error".
    await new Promise((resolve) => opened.once("close", resolve));
    expect(opened.rstCode).toBe(constants.NGHTTP2_CANCEL);
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    session.once("close", resolve);
    await closed;
  });

  it("rejects a head over the limit", async () => {
    await startHttp2(() => text("unreachable"));
    const opened = session?.request({ ":path": "/", "x-long": "x".repeat(20_000) });
    if (opened === undefined) throw new Error("no session");
    expect((await answerOf(opened)).status).toBe(431);
  });

  it("reports nothing when the client resets a stream in its body", async () => {
    const report = Promise.withResolvers<FinishReport>();
    const started = Promise.withResolvers<void>();
    await startHttp2(async (request, context) => {
      context.onFinish(report.resolve);
      context.waitUntil(request.clone().text());
      started.resolve();
      return text(await request.text());
    });
    const opened = session?.request({ ":path": "/", ":method": "POST" });
    if (opened === undefined) throw new Error("no session");
    opened.on("error", () => undefined);
    opened.write("part");
    await started.promise;
    opened.close(constants.NGHTTP2_CANCEL);
    expect(await report.promise).toMatchObject({ aborted: true });
    await server?.close({ gracePeriod: 0 });
    expect(reported).toEqual([]);
  });

  it("reports nothing when the client has reset a stream before its body is read", async () => {
    const begun = Promise.withResolvers<void>();
    const failure = Promise.withResolvers<unknown>();
    await startHttp2(async (request, context) => {
      const finished = new Promise<FinishReport>((resolve) => context.onFinish(resolve));
      begun.resolve();
      await finished;
      try {
        return text(await request.text());
      } catch (error) {
        failure.resolve(error);
        throw error;
      }
    });
    const opened = session?.request({ ":path": "/", ":method": "POST" });
    opened?.on("error", () => undefined);
    opened?.write("part");
    await begun.promise;
    opened?.close(constants.NGHTTP2_CANCEL);
    expect(await failure.promise).toMatchObject({ name: "AbortError" });
    await server?.close({ gracePeriod: 0 });
    expect(reported).toEqual([]);
  });

  it("does not take a body for whole whose stream was reset without an error", async () => {
    const result = Promise.withResolvers<unknown>();
    const { port } = await start(
      async (request) => {
        const body = request.text();
        body.then(result.resolve, result.resolve);
        return text(await body);
      },
      { http2: true },
    );
    // A client of Node would end the body before it resets the stream.
    const client = connectTls({ port, host: "127.0.0.1", ca: cert, ALPNProtocols: ["h2"] });
    client.on("error", () => undefined);
    const post = [0x83, 0x87, 0x84, 0x41, 1, 0x61];
    const frames = [
      [0, 0, 0, 4, 0, 0, 0, 0, 0],
      [0, 0, post.length, 1, 4, 0, 0, 0, 1, ...post],
      [0, 0, 4, 0, 0, 0, 0, 0, 1, ...Buffer.from("part")],
      [0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, constants.NGHTTP2_NO_ERROR],
    ];
    client.write(
      Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), Buffer.from(frames.flat())]),
    );
    expect(await result.promise).toMatchObject({ name: "AbortError" });
    client.destroy();
  });

  it("rejects CONNECT", async () => {
    await startHttp2(() => text("never"));
    const asked = session?.request({ ":method": "CONNECT", ":authority": "a:1" });
    if (asked === undefined) throw new Error("no session");
    expect((await answerOf(asked)).status).toBe(501);
  });

  it("rejects an authority that cannot be in a URL", async () => {
    await startHttp2((request) => text(new URL(request.url).href));
    const asked = session?.request({ ":path": "/", ":authority": "1.2.3.4.5" });
    if (asked === undefined) throw new Error("no session");
    expect((await answerOf(asked)).status).toBe(400);
  });

  it("rejects a Host that is not the authority, and accepts one that is", async () => {
    await startHttp2((request) => text(new URL(request.url).host));
    const statusOf = async (host: string): Promise<number | undefined> => {
      const asked = session?.request({ ":path": "/", ":authority": "a.example", host });
      if (asked === undefined) throw new Error("no session");
      return (await answerOf(asked)).status;
    };
    expect(await statusOf("b.example")).toBe(400);
    expect(await statusOf("A.example")).toBe(200);
  });

  it("sends headers whose names are those of an object's own members", async () => {
    await startHttp2(() =>
      text("", {
        headers: [
          ["constructor", "a"],
          ["__proto__", "b"],
        ],
      }),
    );
    const { headers } = await answerOf(stream("/"));
    expect(headers["constructor"]).toBe("a");
    expect(Object.entries(headers)).toContainEqual(["__proto__", "b"]);
  });

  it("survives a client that does not speak HTTP/2", async () => {
    const { port, url } = await start(() => text("alive"), { http2: true });
    const socket = connectTls({ port, host: "127.0.0.1", ca: cert, ALPNProtocols: ["h2"] });
    socket.on("error", () => undefined);
    socket.end("this is not a preface\r\n\r\n".repeat(20));
    socket.resume();
    await new Promise((resolve) => socket.once("close", resolve));
    expect(await ask(url)).toBe("200 alive");
  });
});
