import { text } from "node:stream/consumers";
import { buildRequestObject, Method, type RestRequest } from "@fetchwork/http";
import { describe, expect, it } from "vitest";

const baseUrl = "http://h/x";
const build = (request: Partial<RestRequest>): ReturnType<typeof buildRequestObject> =>
  buildRequestObject({ baseUrl, headers: { "user-agent": null }, ...request });

describe("refuses", () => {
  it.each([
    ["a relative URL", { baseUrl: "/x" }, "ERR_HTTP_URL"],
    ["a URL that is not text", { baseUrl: 1 as unknown as string }, "ERR_HTTP_URL"],
    ["no URL", { baseUrl: "" }, "ERR_HTTP_URL"],
    ["another scheme", { baseUrl: "ftp://h/" }, "ERR_HTTP_URL"],
    ["a host without a scheme", { baseUrl: "localhost:80/x" }, "ERR_HTTP_URL"],
    ["a line break in the URL", { baseUrl: "http://h/\r\nx" }, "ERR_HTTP_URL"],
    ["a tab in the host", { baseUrl: "http://ev\til.com/" }, "ERR_HTTP_URL"],
    ["a method that is not a token", { method: "@" }, "ERR_HTTP_METHOD"],
    ["a method with a line break", { method: "GET\r\n" }, "ERR_HTTP_METHOD"],
    ["a tunnel", { method: "connect" }, "ERR_HTTP_METHOD"],
    ["a header name with a space", { headers: { "a b": "1" } }, "ERR_HTTP_HEADER"],
    ["an empty header name", { headers: { "": "1" } }, "ERR_HTTP_HEADER"],
    ["a header value with a line break", { headers: { a: "1\r\nb: 2" } }, "ERR_HTTP_HEADER"],
    ["a header value with a NUL", { headers: { a: "\0" } }, "ERR_HTTP_HEADER"],
    ["a header value above U+00FF", { headers: { a: "ł" } }, "ERR_HTTP_HEADER"],
    ["a line break in one of several values", { headers: { a: ["1", "2\n"] } }, "ERR_HTTP_HEADER"],
    ["a body with no JSON form", { body: (() => 1) as object }, "ERR_HTTP_JSON"],
    ["a big integer in a body", { body: { a: 1n } }, "ERR_HTTP_JSON"],
  ] as const)("%s", (_, request, code) => {
    expect(() => build(request)).toThrow(expect.objectContaining({ name: "HttpUsageError", code }));
  });

  it("a body with a cycle", () => {
    const body: { self?: object } = {};
    body.self = body;
    expect(() => build({ body })).toThrow(expect.objectContaining({ code: "ERR_HTTP_JSON" }));
  });

  it("a stream that is being read", () => {
    const body = new ReadableStream();
    body.getReader();
    expect(() => build({ body })).toThrow(expect.objectContaining({ code: "ERR_HTTP_BODY" }));
  });

  it.each(["http://h:99999/", "http://[fe80::1%25eth0]/", "http://[::1/", "https://"])(
    "%s, which is absolute, and says what is wrong with it",
    (url) => {
      expect(() => build({ baseUrl: url })).toThrow(
        expect.objectContaining({
          code: "ERR_HTTP_URL",
          message: expect.stringContaining("host or port") as string,
        }),
      );
    },
  );

  it("a wrong URL without showing it", () => {
    const url = "http://user:hunter2@[bad/?token=hunter2";
    expect(() => build({ baseUrl: url })).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining("hunter2") as string }),
    );
  });
});

describe("the method", () => {
  it.each([
    [undefined, "GET"],
    ["", "GET"],
    ["get", "GET"],
    ["patch", "PATCH"],
    ["Post", "POST"],
    [Method.Delete, "DELETE"],
    ["QUERY", "QUERY"],
    ["PROPFIND", "PROPFIND"],
    ["purge", "purge"],
  ])("%j is sent as %s", (method, expected) => {
    expect(build({ method }).method).toBe(expected);
  });
});

describe("the URL", () => {
  it("loses its fragment, and keeps its query before the parameters", () => {
    const { url } = build({ baseUrl: "http://h/x?z=1#f", queryParams: { b: 2, a: 1 } });
    expect(url.href).toBe("http://h/x?z=1&a=1&b=2");
  });

  it("may be changed by who builds it, and no other request notices", () => {
    build({}).url.pathname = "/changed";
    expect(build({}).url.href).toBe(baseUrl);
  });

  it("moves its user information to the Authorization header, percent-decoded, in UTF-8", () => {
    const { url, headers } = build({ baseUrl: "http://%C3%BCser:p%3Ass@h/x" });
    expect(url.href).toBe("http://h/x");
    expect(headers).toEqual(["authorization", `Basic ${btoa("\xc3\xbcser:p:ss")}`]);
  });

  it("loses its user information to a header of the caller", () => {
    const { headers } = build({
      baseUrl: "http://a:b@h/x",
      headers: { Authorization: "Bearer t", "user-agent": null },
    });
    expect(headers).toEqual(["authorization", "Bearer t"]);
  });
});

describe("headers", () => {
  it("are lower-cased, trimmed, and the later of two that differ in case wins", () => {
    const { headers } = build({
      headers: { Accept: "a", "X-N": 1, ACCEPT: " b ", "User-Agent": "me" },
    });
    expect(headers).toEqual(["x-n", "1", "accept", "b", "user-agent", "me"]);
  });

  it("come once per value of a list", () => {
    const { headers } = build({ headers: { a: ["1", "2"], "user-agent": null } });
    expect(headers).toEqual(["a", "1", "a", "2"]);
  });

  it("may be given as Headers, pairs, and undefined ones", () => {
    expect(build({ headers: new Headers({ a: "1", "user-agent": "u" }) }).headers).toEqual([
      "a",
      "1",
      "user-agent",
      "u",
    ]);
    expect(
      build({
        headers: [
          ["A", undefined],
          ["B", "2"],
          ["user-agent", null],
        ],
      }).headers,
    ).toEqual(["b", "2"]);
  });

  it("name the client unless the caller says otherwise", () => {
    expect(buildRequestObject({ baseUrl }).headers).toEqual(["user-agent", "fetchwork"]);
  });

  it("take names of members of objects for what they are", () => {
    const headers = JSON.parse('{"__proto__":"1","constructor":"2","user-agent":null}') as object;
    expect(build({ headers: headers as Record<string, string> }).headers).toEqual([
      "__proto__",
      "1",
      "constructor",
      "2",
    ]);
  });
});

describe("the body", () => {
  it.each([
    [undefined, undefined, undefined],
    [null, undefined, undefined],
    ["", undefined, undefined],
    [new Uint8Array(), undefined, undefined],
    ["text", "text", "application/json"],
    [{ a: [1] }, '{"a":[1]}', "application/json"],
    [[1], "[1]", "application/json"],
    [0, "0", "application/json"],
    [false, "false", "application/json"],
    [new Date(0), '"1970-01-01T00:00:00.000Z"', "application/json"],
    [Object.create(null) as object, "{}", "application/json"],
    [new URLSearchParams({ a: "b c" }), "a=b+c", "application/x-www-form-urlencoded;charset=UTF-8"],
  ])("%o is %j of type %s", (body, expected, type) => {
    const built = build({ body });
    expect(built.body).toEqual(expected);
    expect(built.headers).toEqual(type === undefined ? [] : ["content-type", type]);
  });

  it("keeps the type that the caller passes", () => {
    const headers = { "Content-Type": "custom", "user-agent": null };
    expect(build({ body: "x", headers }).headers).toEqual(["content-type", "custom"]);
  });

  it("of bytes is not copied, whatever view it comes as", () => {
    const bytes = new Uint8Array([1, 2, 3, 4]);
    expect(build({ body: bytes }).body).toBe(bytes);
    expect(build({ body: new DataView(bytes.buffer, 1, 2) }).body).toEqual(new Uint8Array([2, 3]));
    expect(build({ body: bytes.buffer }).body).toEqual(bytes);
  });

  it("may be there with GET", () => {
    expect(build({ method: "GET", body: { a: 1 } })).toMatchObject({
      method: "GET",
      body: '{"a":1}',
    });
  });

  it("of a blob has the blob's type, or that of bytes", () => {
    expect(build({ body: new Blob(["x"], { type: "image/png" }) }).headers[1]).toBe("image/png");
    expect(build({ body: new Blob(["x"]) }).headers[1]).toBe("application/octet-stream");
  });

  it("of an async iterable is a stream of bytes", async () => {
    async function* pieces(): AsyncGenerator<string | Uint8Array> {
      yield "a";
      yield new Uint8Array([98]);
    }
    const { body } = build({ body: pieces() });
    expect(await text(body as ReadableStream)).toBe("ab");
  });

  it("of an iterable fails on a piece that is neither bytes nor text, and ends the iterable", async () => {
    let hasEnded = false;
    async function* pieces(): AsyncGenerator<string> {
      try {
        yield 1 as unknown as string;
      } finally {
        hasEnded = true;
      }
    }
    const { body } = build({ body: pieces() });
    await expect(text(body as ReadableStream)).rejects.toThrow(
      expect.objectContaining({ code: "ERR_HTTP_BODY" }),
    );
    expect(hasEnded).toBe(true);
  });

  it("of a form can be read by the platform's parser, files and hostile names included", async () => {
    const form = new FormData();
    form.append('na"me\r\nx', "line\nbreak");
    form.append("file", new File(["\0\xff"], 'a"b\n.bin', { type: "image/png" }));
    form.append("file", new Blob(["2"]));
    const { body, headers } = build({ body: form });
    const type = headers[1] ?? "";
    const read = await new Response(body as Blob, { headers: { "content-type": type } }).formData();
    expect(read.get('na"me\r\nx')).toBe("line\r\nbreak");
    const [first, second] = read.getAll("file") as File[];
    expect([first?.name, first?.type, await first?.text()]).toEqual([
      'a"b\r\n.bin',
      "image/png",
      "\0ÿ",
    ]);
    expect([second?.name, second?.type]).toEqual(["blob", "application/octet-stream"]);
  });
});

describe("what endpoint() returns", () => {
  it("is taken as it is: lower-case method, url, headers, data", () => {
    const built = buildRequestObject({
      method: "patch",
      url: "http://h/a?b=1",
      headers: { accept: "x", "user-agent": "e" },
      body: { a: 1 },
    });
    expect(built).toEqual({
      method: "PATCH",
      url: new URL("http://h/a?b=1"),
      headers: ["accept", "x", "user-agent", "e", "content-type", "application/json"],
      body: '{"a":1}',
    });
  });

  it("may have more of a request, and a baseUrl where the url is undefined", () => {
    const more = { method: "get", url: "http://h/a", queryParams: { b: 1 } };
    expect(buildRequestObject(more).url.href).toBe("http://h/a?b=1");
    const without: { url?: string | undefined; baseUrl: string } = { baseUrl: "http://h/a" };
    without.url = undefined;
    expect(buildRequestObject(without).url.href).toBe("http://h/a");
  });

  it("may have null for its data, which is JSON", () => {
    expect(buildRequestObject({ method: "post", url: baseUrl, body: null }).body).toBe("null");
  });
});
