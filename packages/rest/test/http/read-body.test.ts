import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readBody } from "../../src/http/read-body.ts";
import { Problem } from "../../src/problem.ts";

const url = "http://localhost/";

function post(body: BodyInit | null, type?: string, headers: Record<string, string> = {}): Request {
  const request = new Request(url, {
    method: "POST",
    body,
    duplex: "half",
    headers,
  } as RequestInit);
  if (type === undefined) request.headers.delete("content-type");
  else request.headers.set("content-type", type);
  return request;
}

function streamOf(...chunks: string[]): ReadableStream {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
      controller.close();
    },
  });
}

/** Texts and bytes in one body. */
function bytes(...parts: (number | string)[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(
    parts.flatMap((part) =>
      typeof part === "number" ? part : [...new TextEncoder().encode(part)],
    ),
  );
}

const part = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n';

async function statusOf(request: Request, limit = 100): Promise<number> {
  try {
    await readBody(request, limit);
  } catch (error) {
    if (error instanceof Problem) return error.status;
    throw error;
  }
  return 200;
}

const json = "application/json";
const form = "application/x-www-form-urlencoded";

describe("readBody", () => {
  it.each([
    ["a body over the limit", post("x".repeat(101), form), 413],
    ["a declared length over the limit", post("{}", json, { "content-length": "101" }), 413],
    ["a stream over the limit", post(streamOf("x".repeat(60), "x".repeat(60)), form), 413],
    [
      "a body longer than it was declared",
      post("x".repeat(101), form, { "content-length": "5" }),
      413,
    ],
    ["a body of an unknown type", post("<a/>", "application/xml"), 415],
    ["a prototype as JSON", post('{"a":{"__proto__" :{}}}', json), 400],
    ["a prototype in another spelling", post('{"\\u005F_prot\\u006f__":1}', json), 400],
    ["a prototype as a form", post("__proto__=a", form), 400],
    ["a nested name", post("a[b]=c", form), 400],
    ["a list by its name", post("a%5B%5D=c", form), 400],
    ["a body of text", post("a=b", "text/plain"), 415],
    ["a body without a type", post("a=b"), 415],
    ["a type that only begins like one", post("{}", "application/jsonx"), 415],
    ["JSON that is none", post("{", json), 400],
    ["JSON with a byte-order mark inside", post('{"a":\ufeff1}', json), 400],
    ["a JSON array", post("[]", json), 400],
    ["a JSON text", post('"a"', json), 400],
    ["JSON null", post("null", json), 400],
    ["JSON with a byte that is not UTF-8", post(bytes('{"a":"', 0xff, '"}'), json), 400],
    ["JSON with an overlong sequence", post(bytes('{"a":"', 0xc0, 0xaf, '"}'), json), 400],
    ["JSON with half a character", post(bytes('{"a":"', 0xf0, 0x9f, 0x98, '"}'), json), 400],
    ["JSON with a surrogate", post(bytes('{"a":"', 0xed, 0xa0, 0x80, '"}'), json), 400],
    ["a form with a byte that is not UTF-8", post(bytes("a=", 0xff), form), 400],
    ["a form with an encoded byte that is not UTF-8", post("a=%ff", form), 400],
    ["a form with U+FFFD and a byte that is not UTF-8", post("b=%EF%BF%BD&a=%ff", form), 400],
    ["a form with a name that is not UTF-8", post("a%C3=1", form), 400],
    [
      "multipart with a byte that is not UTF-8",
      post(bytes(part, 0xff, "\r\n--b--\r\n"), "multipart/form-data; boundary=b"),
      400,
    ],
    ["multipart without a boundary", post("x", "multipart/form-data"), 400],
    ["multipart that ends early", post("--b\r\n", "multipart/form-data; boundary=b"), 400],
  ])("refuses %s", async (_what, request, status) => {
    expect(await statusOf(request)).toBe(status);
  });

  it.each([json, "application/merge-patch+json", form, "multipart/form-data; boundary=b"])(
    "takes an empty body of the type %s for none",
    async (type) => {
      const request = post(streamOf(""), type);
      expect(await readBody(request, 100)).toEqual({ fields: {}, isForm: false });
    },
  );

  it("reads a body that comes byte by byte", async () => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode("a="));
        for (let count = 0; count < 50_000; count += 1) controller.enqueue(new Uint8Array([0x61]));
        controller.close();
      },
    });
    const { fields } = await readBody(post(body, form), 100_000);
    expect(fields["a"]).toHaveLength(50_000);
  });

  it("refuses a file", async () => {
    const data = new FormData();
    data.set("a", new File(["x"], "x.txt"));
    expect(await statusOf(new Request(url, { method: "POST", body: data }), 10_000)).toBe(400);
  });

  it.each([
    ["no body", post(null)],
    ["a GET", new Request(url)],
    ["an empty body without a type", post(streamOf())],
    ["a declared length of 0", post(null, json, { "content-length": "0" })],
  ])("reads nothing from %s", async (_what, request) => {
    expect(await readBody(request, 100)).toEqual({ fields: {}, isForm: false });
  });

  it.each([
    ["JSON", post('{"a":1}', "Application/JSON; charset=utf-8"), { a: 1 }, false],
    ["a merge patch", post('{"a":null}', "application/merge-patch+json"), { a: null }, false],
    ["a form", post("a=1&b=x+y%C3%A9&a=2", form), { a: ["1", "2"], b: "x yé" }, true],
    ["a form in pieces", post(streamOf("a=", "1"), form), { a: "1" }, true],
    ["U+FFFD that was sent", post('{"a":"\ufffd"}', json), { a: "\ufffd" }, false],
    [
      "a percent sign that encodes nothing",
      post("a=100%&b=%C3%A9", form),
      { a: "100%", b: "é" },
      true,
    ],
    ["U+FFFD in a form", post("a=%EF%BF%BD&b=%C3%A9", form), { a: "\ufffd", b: "é" }, true],
  ])("reads %s", async (_what, request, fields, isForm) => {
    expect(await readBody(request, 100)).toEqual({ fields, isForm });
  });

  it("reads multipart fields", async () => {
    const data = new FormData();
    data.set("a", "ü");
    const body = await readBody(new Request(url, { method: "POST", body: data }), 10_000);
    expect(body).toEqual({ fields: { a: "ü" }, isForm: true });
  });

  it.each([
    post('{"toString":{"admin":true},"constructor":1}', json),
    post("toString=1&constructor=1&hasOwnProperty=1", form),
  ])("keeps names of the prototype's members as mere names", async (request) => {
    const { fields } = await readBody(request, 1_000);
    expect(Object.getPrototypeOf(fields)).toBeNull();
    expect(Object.hasOwn(fields, "toString")).toBe(true);
    expect(fields).not.toHaveProperty("admin");
  });

  it("returns any JSON object", async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), async (value) => {
        const text = JSON.stringify(value);
        fc.pre(!text.includes("__proto__"));
        const { fields } = await readBody(post(text, json), 1_000_000);
        expect(JSON.stringify(fields)).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });
});

it("readBody keeps texts that only look like a prototype", async () => {
  const fields = { a: "__proto__", b: '"__proto__"', c: "__proto__:", proto: 1, __proto: 2 };
  expect((await readBody(post(JSON.stringify(fields), json), 200)).fields).toEqual(fields);
});
