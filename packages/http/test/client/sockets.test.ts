import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTcpServer, type AddressInfo } from "node:net";
import { inspect } from "node:util";
import { gzipSync } from "node:zlib";
import {
  Client,
  fetchTransport,
  send,
  stream,
  trySend,
  type ClientOptions,
  type SendOptions,
} from "@fetchwork/http";
import { CookieJar } from "tough-cookie";
import { describe, expect, it, onTestFinished } from "vitest";

async function listen(listener: RequestListener): Promise<string> {
  const server: Server = createServer(listener);
  return opened(server);
}

async function opened(server: ReturnType<typeof createTcpServer>): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    if ("closeAllConnections" in server) (server as Server).closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** What the server got. */
const echo: RequestListener = (request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const { method, url, rawHeaders } = request;
    const body = Buffer.concat(chunks).toString("latin1");
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ method, url, rawHeaders, body }));
  });
};

interface Echo {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

describe.each([
  ["the platform's default", {}],
  ["fetch", { transport: fetchTransport() }],
] as readonly (readonly [string, ClientOptions])[])("over %s", (kind, options) => {
  const isFetch = kind === "fetch";
  const makeClient = (more: ClientOptions = {}): Client => {
    const client = new Client({ ...options, ...more });
    onTestFinished(() => client.close());
    return client;
  };

  it.each(["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY", "PROPFIND", "patch"])(
    "sends %s",
    async (method) => {
      const origin = await listen(echo);
      const response = await makeClient().send({
        method,
        baseUrl: `${origin}/a?b=1`,
        queryParams: { c: "d e" },
      });
      expect(response.json<Echo>()).toMatchObject({
        method: method.toUpperCase(),
        url: "/a?b=1&c=d+e",
      });
    },
  );

  it.each([
    ["text", "hällo"],
    ["bytes", new TextEncoder().encode("hällo")],
    ["a blob", new Blob(["hällo"])],
    ["a stream", (): unknown => new Blob(["hällo"]).stream()],
    [
      "an iterable",
      (): unknown =>
        (async function* () {
          yield "hä";
          yield "llo";
        })(),
    ],
  ])("sends a body that is %s", async (_, given) => {
    const origin = await listen(echo);
    const body = (typeof given === "function" ? given() : given) as string;
    const response = await makeClient().send({ method: "POST", baseUrl: origin, body });
    expect(response.json<Echo>().body).toBe("h\xc3\xa4llo");
  });

  it("sends a form that servers read", async () => {
    const origin = await listen(echo);
    const form = new FormData();
    form.append("a", "1");
    form.append("f", new File(["x"], "f.txt", { type: "text/plain" }));
    const response = await makeClient().send({ method: "POST", baseUrl: origin, body: form });
    const { body, rawHeaders } = response.json<Echo>();
    const type =
      rawHeaders[rawHeaders.findIndex((name) => name.toLowerCase() === "content-type") + 1] ?? "";
    const read = await new Response(body, { headers: { "content-type": type } }).formData();
    expect([read.get("a"), (read.get("f") as File).name]).toEqual(["1", "f.txt"]);
  });

  it("returns several values of a header as a list", async () => {
    const origin = await listen((_, response) => {
      response.setHeader("Set-Cookie", ["a=1", "b=2, c"]);
      response.setHeader("X-Multi", ["1", "2"]);
      response.end();
    });
    const { headers } = await makeClient().send({ baseUrl: origin });
    expect(headers["Set-Cookie"]).toEqual(["a=1", "b=2, c"]);
    expect(headers["X-Multi"]).toEqual(isFetch ? ["1, 2"] : ["1", "2"]);
  });

  it("decodes gzip, and drops the headers that spoke of it", async () => {
    const origin = await listen((_, response) => {
      response.setHeader("content-encoding", "gzip");
      response.end(gzipSync("hello".repeat(100)));
    });
    const response = await makeClient().send({ baseUrl: origin });
    expect(response.body).toBe("hello".repeat(100));
    expect(response.header("content-encoding")).toBeUndefined();
    expect(response.header("content-length")).toBeUndefined();
  });

  it("counts bytes after decompression", async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    const origin = await listen((_, response) => {
      response.setHeader("content-encoding", "gzip");
      response.end(bomb);
    });
    await expect(makeClient().send({ baseUrl: origin })).rejects.toMatchObject({
      name: "TooLargeError",
      limit: 16_777_216,
    });
  });

  it("keeps cookies in a jar of tough-cookie, and sends them where they belong", async () => {
    const origin = await listen((request, response) => {
      if (request.url === "/echo") return echo(request, response);
      const lines = ["id=1; Path=/; HttpOnly", "no cookie", "sub=2; Path=/start", "x=3; Domain=b"];
      response.setHeader("set-cookie", lines);
      response.writeHead(302, { location: "/echo" }).end();
      return undefined;
    });
    const client = makeClient({ cookies: new CookieJar() });
    const cookiesOf = async (path: string, headers = {}): Promise<readonly string[]> => {
      const response = await client.send({ baseUrl: `${origin}${path}`, headers });
      const { rawHeaders } = response.json<Echo>();
      return rawHeaders.filter((_, index) => rawHeaders[index - 1]?.toLowerCase() === "cookie");
    };
    expect(await cookiesOf("/start")).toEqual(["id=1"]);
    expect(await cookiesOf("/echo")).toEqual(["id=1"]);
    expect(await cookiesOf("/echo", { cookie: "own=1" })).toEqual(["own=1"]);
  });

  it("follows redirects, and ends a loop", async () => {
    const origin = await listen((request, response) => {
      if (request.url === "/end") return echo(request, response);
      response.writeHead(302, { location: request.url === "/start" ? "/end" : "/loop" }).end();
      return undefined;
    });
    const client = makeClient();
    const response = await client.send({ method: "POST", baseUrl: `${origin}/start`, body: "x" });
    expect(response.json<Echo>()).toMatchObject({ method: "GET", url: "/end", body: "" });
    await expect(client.send({ baseUrl: `${origin}/loop` })).rejects.toMatchObject({
      name: "RedirectError",
    });
  });

  it("keeps credentials from another port, on the wire", async () => {
    const other = await listen(echo);
    const origin = await listen((_, response) =>
      response.writeHead(307, { location: other }).end(),
    );
    const headers = { Authorization: "Bearer t", Cookie: "a=1", "X-Kept": "1" };
    const response = await makeClient().send({ baseUrl: origin, headers });
    const names = response.json<Echo>().rawHeaders.map((name) => name.toLowerCase());
    expect(names).toContain("x-kept");
    expect(names).not.toContain("authorization");
    expect(names).not.toContain("cookie");
  });

  it("repeats after 503 and a Retry-After", async () => {
    let requests = 0;
    const origin = await listen((_, response) => {
      requests += 1;
      response.writeHead(requests === 1 ? 503 : 200, { "retry-after": "0" }).end(String(requests));
    });
    const client = makeClient({ retry: { baseDelay: 1 } });
    expect((await client.send({ baseUrl: origin })).body).toBe("2");
  });

  it("says that a server refuses connections, without the query", async () => {
    const server = createTcpServer();
    const origin = await opened(server);
    await new Promise((resolve) => server.close(resolve));
    const { error } = await makeClient().trySend({ baseUrl: `${origin}/x?token=hunter2` });
    expect(error).toMatchObject({
      name: "ConnectionError",
      code: "ERR_HTTP_CONNECTION",
      reason: "refused",
      systemCode: "ECONNREFUSED",
      url: `${origin}/x?token=…`,
    });
    expect(error?.message).not.toContain("hunter2");
  });

  it("says that a connection broke off before the response", async () => {
    const origin = await opened(
      createTcpServer((socket) => socket.once("data", () => socket.destroy())),
    );
    const { error } = await makeClient().trySend({ method: "POST", baseUrl: origin, body: "x" });
    expect(error).toMatchObject({ name: "ConnectionError", reason: "reset" });
  });

  it("says that a response is not HTTP", async () => {
    const origin = await opened(
      createTcpServer((socket) => void socket.end("SSH-2.0 hunter2\r\n\r\n")),
    );
    const { error } = await makeClient().trySend({ baseUrl: origin });
    expect(error).toMatchObject({ name: "ProtocolError", code: "ERR_HTTP_PROTOCOL" });
    expect(inspect(error, { depth: 10 })).not.toContain("hunter2");
  });

  it("says that a response did not come in time", async () => {
    const origin = await listen(() => undefined);
    const timeout = { connect: 30, headers: 30 };
    const { error } = await makeClient({ timeout }).trySend({ baseUrl: origin });
    expect(error).toMatchObject({ name: "TimeoutError", phase: "headers" });
  });

  it("says that a body stopped coming", async () => {
    const origin = await listen((_, response) => {
      response.writeHead(200, { "content-length": "10" });
      response.write("12345");
    });
    const { error } = await makeClient({ timeout: { body: 30 } }).trySend({ baseUrl: origin });
    expect(error).toMatchObject({ name: "TimeoutError", phase: "body", limit: 30 });
  });

  it("ends a request in total time and by a signal, and the server sees it", async () => {
    for (const give of [() => ({ timeout: 40 }), () => ({ signal: AbortSignal.timeout(40) })]) {
      const given: SendOptions = give();
      const { promise: gone, resolve } = Promise.withResolvers<void>();
      const origin = await listen((request) => void request.socket.once("close", resolve));
      const { error } = await makeClient().trySend({ baseUrl: origin }, given);
      expect(error).toMatchObject(
        given.signal !== undefined
          ? { name: "AbortError", cause: given.signal.reason as unknown }
          : { phase: "total" },
      );
      await gone;
    }
  });

  it("streams both ways at once, as fast as it is read", async () => {
    const origin = await listen((request, response) => void request.pipe(response));
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const first = writer.write(new TextEncoder().encode("one"));
    const response = await makeClient().stream({ method: "POST", baseUrl: origin, body: readable });
    const reader = response.body.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("one");
    await first;
    await writer.write(new TextEncoder().encode("two"));
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("two");
    await writer.close();
    expect(await reader.read()).toMatchObject({ done: true });
  });

  it("lets go of the connection when a stream is cancelled", async () => {
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    const origin = await listen((request, response) => {
      request.socket.once("close", resolve);
      response.write("start");
    });
    const response = await makeClient().stream({ baseUrl: origin });
    await response.cancel();
    await gone;
  });

  it("returns a Response that streams", async () => {
    const origin = await listen(echo);
    const response = (await makeClient().stream({ baseUrl: origin })).toResponse();
    expect(response).toBeInstanceOf(Response);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ method: "GET" });
  });

  it.each([204, 304])("reads a %i without a body", async (status) => {
    const origin = await listen((_, response) => response.writeHead(status, { "x-a": "1" }).end());
    const client = makeClient();
    expect(await client.send({ baseUrl: origin })).toMatchObject({ statusCode: status, body: "" });
    expect((await client.stream({ baseUrl: origin })).toResponse().body).toBeNull();
  });

  it("reads the head of a HEAD", async () => {
    const origin = await listen((_, response) =>
      response.writeHead(200, { "content-length": "99" }).end(),
    );
    const response = await makeClient().send({ method: "HEAD", baseUrl: origin });
    expect([response.body, response.header("content-length")]).toEqual(["", "99"]);
  });
});

describe("fetch", () => {
  it("has no body with GET, and says so", async () => {
    const client = new Client({ transport: fetchTransport() });
    const { error } = await client.trySend({ baseUrl: "http://127.0.0.1:1/", body: "x" });
    expect(error).toMatchObject({ code: "ERR_HTTP_PROTOCOL" });
    expect(error?.message).toContain("no body with GET");
  });

  it("may be another one than the platform's", async () => {
    const seen: string[] = [];
    const transport = fetchTransport(async (url, { method }) => {
      seen.push(`${method} ${url}`);
      return new Response("mine");
    });
    const response = await new Client({ transport }).send({ baseUrl: "http://h/x" });
    expect([response.body, ...seen]).toEqual(["mine", "GET http://h/x"]);
  });

  it("that hides redirects, as in pages, fails on one", async () => {
    const transport = fetchTransport(async () =>
      Object.defineProperties(new Response(), { type: { value: "opaqueredirect" } }),
    );
    await expect(new Client({ transport }).send({ baseUrl: "http://h/x" })).rejects.toMatchObject({
      name: "RedirectError",
    });
  });

  it("must be a function", () => {
    expect(() => fetchTransport({} as typeof fetch)).toThrow(
      expect.objectContaining({ code: "ERR_HTTP_OPTION" }),
    );
  });
});

describe("the platform's default", () => {
  it("sends a body with GET", async () => {
    const origin = await listen(echo);
    const response = await send({ baseUrl: origin, body: { a: 1 } });
    expect(response.json<Echo>()).toMatchObject({ method: "GET", body: '{"a":1}' });
  });
});

describe("send, trySend and stream", () => {
  it("work without a client of one's own", async () => {
    const origin = await listen(echo);
    const request = { method: "post", url: `${origin}/x`, headers: { a: "1" }, body: { b: 2 } };
    expect((await send(request)).json()).toMatchObject({
      method: "POST",
      url: "/x",
      body: '{"b":2}',
    });
    expect((await trySend(request)).response?.statusCode).toBe(200);
    expect((await (await stream(request)).toResponse().json()) as Echo).toMatchObject({
      url: "/x",
    });
  });

  it("send a hundred requests at once", async () => {
    const origin = await listen(echo);
    const responses = await Promise.all(
      Array.from({ length: 100 }, (_, index) => send({ baseUrl: `${origin}/${index}` })),
    );
    expect(responses.map((response) => response.json<Echo>().url)).toEqual(
      Array.from({ length: 100 }, (_, index) => `/${index}`),
    );
  });
});
