import { inspect } from "node:util";
import {
  Client,
  HttpUsageError,
  ResponseError,
  json,
  mockTransport,
  text,
  type ClientOptions,
  type Handler,
  type Transport,
} from "@fetchwork/http";
import { describe, expect, it } from "vitest";

const baseUrl = "http://api.test/x";

function clientOf(handler: Handler, options: ClientOptions = {}): Client {
  return new Client({ transport: mockTransport(handler), ...options });
}

/** Answers with what it got. */
const echo: Handler = async (request) =>
  json({
    method: request.method,
    url: request.url,
    headers: Object.fromEntries(request.headers),
    body: await request.text(),
  });

interface Echo {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

describe("options", () => {
  it.each([
    [{ timeout: -1 }, "ERR_HTTP_OPTION"],
    [{ timeout: Number.NaN }, "ERR_HTTP_OPTION"],
    [{ timeout: 2 ** 31 }, "ERR_HTTP_OPTION"],
    [{ timeout: { headers: "5" } }, "ERR_HTTP_OPTION"],
    [{ maxResponseSize: -1 }, "ERR_HTTP_OPTION"],
    [{ redirect: true }, "ERR_HTTP_OPTION"],
    [{ redirect: { credentials: "x-key" } }, "ERR_HTTP_OPTION"],
    [{ retry: "3" }, "ERR_HTTP_OPTION"],
    [{ retry: { retries: 1.5 } }, "ERR_HTTP_OPTION"],
    [{ retry: { statuses: 503 } }, "ERR_HTTP_OPTION"],
    [{ retry: { shouldRetry: true } }, "ERR_HTTP_OPTION"],
    [{ throwOnStatus: 400 }, "ERR_HTTP_OPTION"],
    [{ cookies: true }, "ERR_HTTP_OPTION"],
    [{ hooks: { beforeRequest: [1] } }, "ERR_HTTP_OPTION"],
    [{ logger: { bodies: -1 } }, "ERR_HTTP_OPTION"],
    [{ logger: { sink: "x" } }, "ERR_HTTP_OPTION"],
    [{ transport: {} }, "ERR_HTTP_OPTION"],
    [{ baseUrl: "http://h/?a=1" }, "ERR_HTTP_OPTION"],
    [{ baseUrl: "/x" }, "ERR_HTTP_URL"],
    [{ headers: { a: "\n" } }, "ERR_HTTP_HEADER"],
  ])("%j is refused by the constructor and by extend", (options, code) => {
    const error = expect.objectContaining({ name: "HttpUsageError", code }) as Error;
    expect(() => new Client(options as ClientOptions)).toThrow(error);
    expect(() => clientOf(echo).extend(options as ClientOptions)).toThrow(error);
  });

  it.each([{ timeout: -1 }, { signal: {} }, { sginal: 1 }, { retry: "3" }])(
    "%j is refused by send, as a rejection",
    async (options) => {
      const promise = clientOf(echo).send({ baseUrl }, options as object);
      await expect(promise).rejects.toThrow(expect.objectContaining({ code: "ERR_HTTP_OPTION" }));
    },
  );

  it("never show the value that they refuse", () => {
    expect(() => new Client({ timeout: "hunter2" as unknown as number })).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining("hunter2") as string }),
    );
  });
});

describe("send", () => {
  it.each([
    [undefined, "ERR_HTTP_URL"],
    [{}, "ERR_HTTP_URL"],
    [{ baseUrl: "/x" }, "ERR_HTTP_URL"],
    [{ baseUrl, method: "@" }, "ERR_HTTP_METHOD"],
  ])("rejects %j, and does not throw", async (request, code) => {
    const promise = clientOf(echo).send(request as { baseUrl: string });
    await expect(promise).rejects.toThrow(
      expect.objectContaining({ name: expect.stringMatching(/^(HttpUsage|Type)Error$/) as string }),
    );
    if (request !== undefined) await expect(promise).rejects.toMatchObject({ code });
  });

  it("sends method, URL, query, headers and body", async () => {
    const response = await clientOf(echo).send({
      method: "post",
      baseUrl,
      headers: { "X-A": "1" },
      queryParams: { q: "a b" },
      body: { n: 1 },
    });
    expect(response.json()).toEqual({
      method: "POST",
      url: "http://api.test/x?q=a+b",
      headers: { "content-type": "application/json", "user-agent": "fetchwork", "x-a": "1" },
      body: '{"n":1}',
    });
  });

  it.each(["GET", "HEAD", "TRACE"])("may send a body with %s", async (method) => {
    const seen: string[] = [];
    const client = clientOf(async (request) => {
      seen.push(request.method, await request.text());
      return new Response();
    });
    await client.send({ method, baseUrl, body: "x" });
    expect(seen).toEqual([method, "x"]);
  });

  it.each([400, 404, 500, 599])("takes a status of %i for a response", async (status) => {
    const response = await clientOf(() => text("no", { status })).send({ baseUrl });
    expect([response.statusCode, response.body, response.ok]).toEqual([status, "no", false]);
  });

  it("takes options of the `request` that endpoint() passes through; those of the call win", async () => {
    const client = clientOf(() => text("no", { status: 500 }));
    const request = { method: "get", url: baseUrl, request: { throwOnStatus: true, hook: 1 } };
    await expect(client.send(request)).rejects.toThrow(ResponseError);
    expect((await client.send(request, { throwOnStatus: false })).statusCode).toBe(500);
  });

  it("does not change what it is given", async () => {
    const request = Object.freeze({
      baseUrl,
      headers: Object.freeze({ A: "1" }),
      queryParams: Object.freeze({ b: 1 }),
      body: Object.freeze({ c: 1 }),
    });
    const options = Object.freeze({ retry: Object.freeze({ retries: 1 }) });
    await clientOf(echo).send(request, options);
    expect(request).toEqual({
      baseUrl,
      headers: { A: "1" },
      queryParams: { b: 1 },
      body: { c: 1 },
    });
  });
});

describe("throwOnStatus", () => {
  it("rejects with the response, and a message of its status, the request and one bounded line of the body", async () => {
    const client = clientOf(() => text(`bad\r\n\x1b[31m${"x".repeat(5000)}`, { status: 422 }), {
      throwOnStatus: true,
    });
    const error = await client
      .send({ baseUrl: `${baseUrl}?token=hunter2` })
      .catch((e: unknown) => e);
    expect(error).toMatchObject({
      name: "ResponseError",
      code: "ERR_HTTP_REST",
      statusCode: 422,
      method: "GET",
      url: "http://api.test/x?token=…",
    });
    expect((error as ResponseError).message).toMatch(
      /^422 from GET http:\/\/api\.test\/x\?token=…: bad \[31mx{900,1000}…$/,
    );
    expect((error as ResponseError).response.body).toHaveLength(5010);
    expect(Object.keys(error as object)).not.toContain("response");
  });

  it("lets a status below 400 pass", async () => {
    const client = clientOf(() => new Response(null, { status: 304 }), { throwOnStatus: true });
    expect((await client.send({ baseUrl })).statusCode).toBe(304);
  });

  it("returns the start of the body of a stream", async () => {
    const client = clientOf(() => text("y".repeat(100_000), { status: 500 }), {
      throwOnStatus: true,
    });
    const error = await client.stream({ baseUrl }).catch((e: unknown) => e);
    expect((error as ResponseError).response.body).toHaveLength(65_536);
  });
});

describe("trySend", () => {
  it("resolves to a response, or an error, or both for a status", async () => {
    const good = await clientOf(echo).trySend({ baseUrl });
    expect([good.response?.statusCode, good.error]).toEqual([200, undefined]);
    const bad = await clientOf(echo).trySend({ baseUrl: "/x" });
    expect([bad.response, bad.error?.name]).toEqual([undefined, "HttpUsageError"]);
    const status = await clientOf(() => text("", { status: 400 })).trySend(
      { baseUrl },
      { throwOnStatus: true },
    );
    expect([status.response?.statusCode, status.error?.name]).toEqual([400, "ResponseError"]);
  });

  it("resolves to an error even when a hook throws none", async () => {
    const client = clientOf(echo, {
      hooks: {
        beforeRequest: () => {
          // oxlint-disable-next-line typescript/only-throw-error -- what is tested
          throw "text";
        },
      },
    });
    expect((await client.trySend({ baseUrl })).error).toMatchObject({
      name: "HttpUsageError",
      cause: "text",
    });
  });
});

describe("defaults", () => {
  it("are added to a request, which may replace and remove them", async () => {
    const client = clientOf(echo, {
      baseUrl: "http://api.test/v1/",
      headers: { accept: "a", "x-k": "1" },
      queryParams: { per_page: 10, sort: "x" },
    });
    const response = await client.send({
      baseUrl: "/users?y=1",
      headers: { Accept: "b", "X-K": null },
      queryParams: { sort: "y" },
    });
    expect(response.json<Echo>()).toMatchObject({
      url: "http://api.test/v1/users?y=1&per_page=10&sort=y",
      headers: { accept: "b", "user-agent": "fetchwork" },
    });
    expect(response.json<Echo>().headers).not.toHaveProperty("x-k");
  });

  it.each([
    ["users", "http://api.test/v1/users"],
    ["/users", "http://api.test/v1/users"],
    ["//evil.test/x", "http://api.test/v1//evil.test/x"],
    ["\\\\evil.test", "http://api.test/v1///evil.test"],
    ["?a=1", "http://api.test/v1?a=1"],
    ["", "http://api.test/v1"],
    ["@evil.test", "http://api.test/v1/@evil.test"],
    [".evil.test", "http://api.test/v1/.evil.test"],
    ["http://other.test/x", "http://other.test/x"],
  ])("put %j behind the client's URL", async (relative, expected) => {
    const client = clientOf(echo, { baseUrl: "http://api.test/v1" });
    expect((await client.send({ baseUrl: relative })).json<Echo>().url).toBe(expected);
  });

  it("that are credentials do not go to another origin than the client's", async () => {
    const client = clientOf(echo, {
      baseUrl: "http://user:pass@api.test",
      headers: { "x-api-key": "hunter2", accept: "a" },
    });
    const own = (await client.send({ baseUrl: "/x" })).json<Echo>();
    expect(own.headers).toMatchObject({
      authorization: "Basic dXNlcjpwYXNz",
      "x-api-key": "hunter2",
    });
    const foreign = (await client.send({ baseUrl: "http://evil.test/x" })).json<Echo>();
    expect(foreign.headers).toEqual({ accept: "a", "user-agent": "fetchwork" });
  });
});

describe("extend", () => {
  it("adds headers, parameters and hooks, and replaces the rest, without changing the parent", async () => {
    const seen: string[] = [];
    const parent = clientOf(echo, {
      baseUrl: "http://api.test/v1",
      headers: { a: "1", b: "1" },
      queryParams: { p: 1 },
      hooks: { beforeRequest: () => void seen.push("parent") },
      throwOnStatus: true,
    });
    const child = parent.extend({
      headers: { b: "2" },
      queryParams: { q: 2 },
      hooks: { beforeRequest: [() => void seen.push("child")] },
    });
    expect((await child.send({ baseUrl: "x" })).json()).toMatchObject({
      url: "http://api.test/v1/x?p=1&q=2",
      headers: { a: "1", b: "2" },
    });
    expect(seen).toEqual(["parent", "child"]);
    expect((await parent.send({ baseUrl: "x" })).json()).toMatchObject({
      url: "http://api.test/v1/x?p=1",
      headers: { a: "1", b: "1" },
    });
    expect(seen).toEqual(["parent", "child", "parent"]);
  });

  it("leaves credentials behind when the base moves to another origin", async () => {
    const parent = clientOf(echo, {
      baseUrl: "http://api.test",
      headers: { authorization: "Bearer t" },
    });
    const child = parent.extend({ baseUrl: "http://other.test" });
    expect((await child.send({ baseUrl: "x" })).json<Echo>().headers).not.toHaveProperty(
      "authorization",
    );
  });
});

describe("close", () => {
  it("refuses further requests of the client and of those that extend it", async () => {
    const client = clientOf(echo);
    const child = client.extend({});
    await client.send({ baseUrl });
    await client.close();
    await client.close();
    for (const closed of [client, child]) {
      await expect(closed.send({ baseUrl })).rejects.toMatchObject({
        code: "ERR_HTTP_CLIENT_CLOSED",
      });
      await expect(closed.stream({ baseUrl })).rejects.toMatchObject({
        code: "ERR_HTTP_CLIENT_CLOSED",
      });
    }
  });

  it("of a client that extends another one leaves that one open", async () => {
    const client = clientOf(echo);
    {
      await using child = client.extend({});
      await child.send({ baseUrl });
    }
    expect((await client.send({ baseUrl })).statusCode).toBe(200);
  });

  it("leaves a transport to who made it", async () => {
    let closed = 0;
    const mock = mockTransport(echo);
    const transport: Transport = {
      exchange: (request) => mock.exchange(request),
      stream: (request) => mock.stream(request),
      close: async () => void (closed += 1),
    };
    const client = new Client({ transport });
    await client.send({ baseUrl });
    await client.close();
    expect(closed).toBe(0);
  });
});

describe("secrets", () => {
  it("stand in no error that a client makes", async () => {
    const url = "http://user:hunter2@api.test/x?token=hunter2";
    const headers = { authorization: "hunter2", cookie: "a=hunter2" };
    const controller = new AbortController();
    controller.abort();
    const failing = new Client({
      transport: mockTransport(() => {
        throw new Error("down");
      }),
    });
    const errors = [
      await failing.trySend({ baseUrl: url, headers, body: "hunter2" }),
      await failing.trySend({ baseUrl: url, headers }, { signal: controller.signal }),
      await clientOf(() => text("12")).trySend({ baseUrl: url, headers }, { maxResponseSize: 1 }),
      await clientOf(
        () => new Response(null, { status: 302, headers: { location: "ftp://hunter2/" } }),
      ).trySend({ baseUrl: url, headers }),
      await clientOf(() => text("no", { status: 400 })).trySend(
        { baseUrl: url, headers },
        { throwOnStatus: true },
      ),
      await failing.trySend({ baseUrl: url, headers: { authorization: "hunter2\n" } }),
      await failing.trySend({ baseUrl: "http://user:hunter2@/?token=hunter2" }),
    ].map(({ error }) => error);
    expect(errors.map((error) => error?.name)).toEqual([
      "ConnectionError",
      "AbortError",
      "TooLargeError",
      "RedirectError",
      "ResponseError",
      "HttpUsageError",
      "HttpUsageError",
    ]);
    for (const error of errors) {
      expect(inspect(error, { depth: 10, showHidden: true })).not.toContain("hunter2");
      expect(JSON.stringify(error)).not.toContain("hunter2");
    }
    expect(errors[5]).toBeInstanceOf(HttpUsageError);
  });
});
