import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import express from "express";
import { afterEach, describe, expect, it } from "vitest";
import { createNodeMiddleware, type ReceiverOptions, Webhooks } from "../../src/index.ts";
import { delivery } from "../receivers.ts";

const path = "/api/vendor/webhooks";
const servers: Server[] = [];
const errors: unknown[] = [];
const secret = "mysecret";
const log = { warn: () => undefined, error: (error: unknown) => errors.push(error) };

afterEach(() => {
  errors.length = 0;
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

async function listen(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

function listenerOf(webhooks: Webhooks, options?: ReceiverOptions): RequestListener {
  const middleware = createNodeMiddleware(webhooks, options);
  return (request, response) => void middleware(request, response);
}

/** Text of a request as it is sent. */
function text(body: string, headers: Readonly<Record<string, string>>, target = path): string {
  const lines = Object.entries({
    host: "x",
    "content-length": String(Buffer.byteLength(body)),
    ...headers,
  });
  return `POST ${target} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`;
}

async function good(webhooks: Webhooks): Promise<string> {
  const { headers } = await delivery(webhooks, '{"a":1}');
  return text('{"a":1}', headers as Record<string, string>);
}

function readUntil(socket: Socket, end: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = "";
    socket.on("data", (chunk) => {
      received += String(chunk);
      if (end.test(received)) resolve(received);
    });
    socket.on("close", () => reject(new Error(`closed after ${received}`)));
  });
}

describe("createNodeMiddleware", () => {
  it("The Node middleware does not wait for the body of a disconnected client", async () => {
    const webhooks = new Webhooks({ secret, log });
    const middleware = createNodeMiddleware(webhooks, { bodyTimeout: Infinity });
    const answered = new Promise<boolean>((resolve, reject) => {
      void listen((request, response) => {
        client.destroy();
        request.on("error", () => undefined);
        request.on("close", () => void middleware(request, response).then(resolve, reject));
      }).then(async (port) => {
        client = connect(port, "127.0.0.1");
        client.write((await good(webhooks)).slice(0, -1));
      });
    });
    let client: Socket;
    expect(await answered).toBe(true);
    expect(errors).toMatchObject([{ code: "ERR_WEBHOOKS_BODY" }]);
  });

  it.each([
    ["another type", text("{}", { "content-type": "text/plain" }), 415],
    ["missing headers", text("{}", { "content-type": "application/json" }), 400],
    ["an impossible signature", text("x".repeat(100_000), headersWith("sha256=x")), 400],
    ["a wrong signature", text("{}", headersWith(`sha256=${"0".repeat(64)}`)), 400],
    [
      "a length over the limit",
      text("x".repeat(200_000), headersWith(`sha256=${"0".repeat(64)}`)),
      413,
    ],
    ["an URL that is none", text("{}", {}, "//x:99999/a"), 422],
  ])("The Node middleware keeps the connection open after %s", async (_, request, status) => {
    const webhooks = new Webhooks({ secret, log });
    const port = await listen(listenerOf(webhooks, { maxBody: 150_000 }));
    const socket = connect(port, "127.0.0.1");
    socket.write(request);
    const answers = readUntil(socket, /ok\n$/);
    socket.write(await good(webhooks));
    expect(await answers).toMatch(new RegExp(`^HTTP/1.1 ${status} .*HTTP/1.1 200 OK`, "s"));
    socket.destroy();
  });

  it("The Node middleware keeps the connection open after an error message beyond ASCII", async () => {
    const webhooks = new Webhooks({ secret, log });
    let calls = 0;
    webhooks.on("issues", () => {
      calls += 1;
      if (calls === 1) throw new Error("ööps 😀 – ça ne va pas");
    });
    const port = await listen(listenerOf(webhooks, { exposeErrors: true }));
    const socket = connect(port, "127.0.0.1");
    const answers = readUntil(socket, /ok\n$/);
    socket.write((await good(webhooks)) + (await good(webhooks)));
    expect(await answers).toContain("ööps 😀");
    socket.destroy();
  });

  it("The Node middleware disconnects a client that keeps sending after 413", async () => {
    const webhooks = new Webhooks({ secret, log });
    const port = await listen(listenerOf(webhooks, { maxBody: 1000 }));
    const socket = connect(port, "127.0.0.1");
    const head = text("", {
      ...headersWith(`sha256=${"0".repeat(64)}`),
      "content-length": "1000000000",
    });
    socket.write(head);
    expect(await readUntil(socket, /\}$/)).toMatch(/^HTTP\/1.1 413/);
    const closed = new Promise((resolve) => socket.on("close", resolve));
    socket.on("error", () => undefined);
    const flood = setInterval(() => socket.write(Buffer.alloc(10_000)), 10);
    await closed;
    clearInterval(flood);
  });

  it("The Node middleware survives a client that disconnects in the middle of a body", async () => {
    const webhooks = new Webhooks({ secret, log });
    const failure = Promise.withResolvers<string>();
    webhooks.onError(({ code }) => failure.resolve(code));
    const port = await listen(listenerOf(webhooks));
    const socket = connect(port, "127.0.0.1");
    socket.write(text("", { ...headersWith(`sha256=${"0".repeat(64)}`), "content-length": "100" }));
    socket.write("x", () => socket.destroy());
    expect(await failure.promise).toBe("ERR_WEBHOOKS_BODY");
  });

  it("The Node middleware refuses a body that a parser has read, at once and with a reason", async () => {
    const webhooks = new Webhooks({ secret, log });
    const app = express().use(express.json()).use(createNodeMiddleware(webhooks));
    const port = await listen(app);
    const response = await fetch(`http://127.0.0.1:${port}${path}`, await delivery(webhooks, "{}"));
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({ error: expect.stringContaining("was already read") });
    expect(errors).toMatchObject([{ code: "ERR_WEBHOOKS_BODY_USED" }]);
  });

  it.each([
    ["express.raw", express.raw({ type: "*/*" })],
    ["express.text", express.text({ type: "*/*" })],
    [
      "a parser that keeps rawBody",
      express.json({
        verify: (request: IncomingMessage & { rawBody?: Buffer }, _, bytes) => {
          request.rawBody = bytes;
        },
      }),
    ],
  ])("The Node middleware uses the bytes that %s kept", async (_, parser) => {
    const webhooks = new Webhooks({ secret, log });
    const seen: unknown[] = [];
    webhooks.onAny(({ payload }) => seen.push(payload));
    const port = await listen(express().use(parser).use(createNodeMiddleware(webhooks)));
    const body = '{ "emoji" : "😀" }';
    const response = await fetch(`http://127.0.0.1:${port}${path}`, await delivery(webhooks, body));
    expect(response.status).toBe(200);
    expect(seen).toEqual([{ emoji: "😀" }]);
  });

  it("The Node middleware limits kept bytes, too", async () => {
    const webhooks = new Webhooks({ secret, log });
    const middleware = createNodeMiddleware(webhooks, { maxBody: 10 });
    const port = await listen(
      express()
        .use(express.raw({ type: "*/*" }))
        .use(middleware),
    );
    const init = await delivery(webhooks, JSON.stringify({ long: "enough" }));
    expect((await fetch(`http://127.0.0.1:${port}${path}`, init)).status).toBe(413);
  });

  it("The Node middleware resolves to false for another path, after next", async () => {
    const webhooks = new Webhooks({ secret, log });
    const middleware = createNodeMiddleware(webhooks);
    const results: unknown[] = [];
    const port = await listen((request, response) => {
      void middleware(request, response, () => response.end("next")).then((is) => results.push(is));
    });
    expect(await (await fetch(`http://127.0.0.1:${port}/other`)).text()).toBe("next");
    await fetch(`http://127.0.0.1:${port}${path}`);
    await expect.poll(() => results).toEqual([false, true]);
  });

  it.each(["//", "///", "///?x=1", "//x:99999/a"])(
    "The Node middleware leaves %s to other routes of Express",
    async (url) => {
      const app = express();
      app.use(createNodeMiddleware(new Webhooks({ secret, log })));
      app.use((_, response) => void response.send("another route"));
      const socket = connect(await listen(app), "127.0.0.1");
      const answer = readUntil(socket, /another route|error/);
      socket.write(`GET ${url} HTTP/1.1\r\nHost: x\r\n\r\n`);
      expect(await answer).toContain("another route");
      socket.destroy();
    },
  );

  it.each(["/", "//", "///", "//?x=1"])(
    "The Node middleware accepts %s as the path /",
    async (url) => {
      const webhooks = new Webhooks({ secret, log });
      const socket = connect(await listen(listenerOf(webhooks, { path: "/" })), "127.0.0.1");
      const answer = readUntil(socket, /ok\n$|error/);
      socket.write((await good(webhooks)).replace(path, url));
      expect(await answer).toContain("200 OK");
      socket.destroy();
    },
  );

  it("The Node middleware responds where Express mounted it at its path", async () => {
    const webhooks = new Webhooks({ secret, log });
    const port = await listen(
      express().use("/hooks", createNodeMiddleware(webhooks, { path: "/hooks" })),
    );
    const init = await delivery(webhooks, "{}");
    expect((await fetch(`http://127.0.0.1:${port}/hooks?tenant=1`, init)).status).toBe(200);
    expect((await fetch(`http://127.0.0.1:${port}/hooks/other`, init)).status).toBe(404);
  });

  it("The Node middleware ignores a response that was already sent", async () => {
    const webhooks = new Webhooks({ secret, log });
    const { promise, resolve } = Promise.withResolvers<void>();
    webhooks.onAny(() => promise);
    const middleware = createNodeMiddleware(webhooks);
    const results: unknown[] = [];
    const port = await listen((request, response) => {
      void middleware(request, response).then((is) => results.push(is));
      response.end("too late");
    });
    const response = await fetch(`http://127.0.0.1:${port}${path}`, await delivery(webhooks, "{}"));
    expect(await response.text()).toBe("too late");
    resolve();
    await expect.poll(() => results).toEqual([true]);
  });

  it("The Node middleware passes the URL with its query to the secret function", async () => {
    const webhooks = new Webhooks({
      log,
      secret: ({ url }) => new URL(url ?? "", "http://x").searchParams.get("tenant") ?? undefined,
    });
    const port = await listen(listenerOf(webhooks));
    const signer = new Webhooks({ secret: "acme" });
    const init = await delivery(signer, "{}");
    expect((await fetch(`http://127.0.0.1:${port}${path}?tenant=acme`, init)).status).toBe(200);
    expect((await fetch(`http://127.0.0.1:${port}${path}?tenant=other`, init)).status).toBe(400);
    expect((await fetch(`http://127.0.0.1:${port}${path}`, init)).status).toBe(400);
  });

  it("The Node middleware passes the URL as it was sent, also when it is mounted", async () => {
    const urls: unknown[] = [];
    const find = ({ url }: { readonly url?: string | undefined }): string => {
      urls.push(url);
      return secret;
    };
    const receive = createNodeMiddleware(new Webhooks({ log, secret: find }));
    const port = await listen((request, response) => {
      // As Express does at a mount point.
      void receive(Object.assign(request, { originalUrl: request.url, url: "/?a=1" }), response);
    });
    const init = await delivery(new Webhooks({ secret }), "{}");
    expect((await fetch(`http://127.0.0.1:${port}${path}?a=1`, init)).status).toBe(200);
    expect(urls).toEqual([`${path}?a=1`]);
  });

  it.each([
    [{ path: 1 }, "path"],
    [{ timeout: 0 }, "timeout"],
    [{ bodyTimeout: Number.NaN }, "bodyTimeout"],
    [{ maxBody: 0.5 }, "maxBody"],
    [{ mode: "later" }, "mode"],
    [{ contentTypes: [] }, "contentTypes"],
    [{ contentTypes: ["xml"] }, "contentTypes"],
  ])("createNodeMiddleware() refuses the options %j", (options, what) => {
    const webhooks = new Webhooks({ secret, log });
    expect(() => createNodeMiddleware(webhooks, options as ReceiverOptions)).toThrow(
      expect.objectContaining({
        code: "ERR_WEBHOOKS_OPTION",
        message: expect.stringContaining(what),
      }),
    );
  });
});

function headersWith(signature: string): Record<string, string> {
  return {
    "content-type": "application/json",
    "x-vendor-event": "push",
    "x-vendor-delivery": "1",
    "x-hub-signature-256": signature,
  };
}
