import fc from "fast-check";
import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { FastResponse, type Handler } from "../../src/index.ts";
import { serve } from "../../src/node/index.ts";

type Make = (response: typeof Response) => Response;

/** What a program can see of a response, or the class of the error that making it throws. */
async function seen(response: typeof Response, make: Make): Promise<unknown> {
  let made: Response;
  try {
    made = make(response);
  } catch (error) {
    return (error as Error).name;
  }
  const { status, statusText, ok, headers, type, url, redirected, bodyUsed } = made;
  const copy = made.clone();
  const bytes = [...new Uint8Array(await made.arrayBuffer())];
  const parts = { status, statusText, ok, type, url, redirected, bodyUsed, fields: [...headers] };
  const again = await made.text().catch((error: unknown) => (error as Error).name);
  return { ...parts, bytes, text: await copy.text(), again, isUsed: made.bodyUsed };
}

const form = (): FormData => {
  const data = new FormData();
  data.set("a", "1");
  return data;
};
const bytes = new Uint8Array([0, 200, 65]);

describe("FastResponse", () => {
  it.each<[string, Make]>([
    ["nothing", (R) => new R()],
    ["null", (R) => new R(null, { status: 204 })],
    ["a text", (R) => new R("grüße \ud800")],
    ["an empty text", (R) => new R("")],
    ["bytes", (R) => new R(bytes)],
    ["a part of a buffer", (R) => new R(bytes.subarray(1))],
    ["a buffer", (R) => new R(bytes.buffer)],
    ["a blob", (R) => new R(new Blob(["x"], { type: "text/css" }))],
    ["search parameters", (R) => new R(new URLSearchParams({ a: "1 2" }))],
    ["a stream", (R) => new R(new Blob(["abc"]).stream())],
    ["a number, which becomes a text", (R) => new R(5 as unknown as string)],
    ["a record of headers", (R) => new R("a", { headers: { "X-A": " 1 ", "x-b": "2" } })],
    [
      "a list of headers",
      (R) =>
        new R("a", {
          headers: [
            ["Set-Cookie", "a"],
            ["set-cookie", "b"],
          ],
        }),
    ],
    ["headers with a type", (R) => new R("a", { headers: { "content-type": "text/css" } })],
    ["headers of the platform", (R) => new R("a", { headers: new Headers({ a: "1" }) })],
    ["a status text", (R) => new R("a", { status: 299, statusText: "Fine é" })],
    ["json()", (R) => R.json({ a: [1, null] }, { status: 201, headers: { a: "1" } })],
    [
      "json() with a type",
      (R) => R.json(1, { headers: { "content-type": "application/ld+json" } }),
    ],
    ["redirect()", (R) => R.redirect("http://a.example/b", 303)],
    ["a status that is not an integer", (R) => new R("a", { status: 200.5 })],
    ["a status out of range", (R) => new R("a", { status: 600 })],
    ["a body with a status without one", (R) => new R("a", { status: 204 })],
    ["an empty body with a status without one", (R) => new R("", { status: 304 })],
    ["a status text with a line break", (R) => new R("a", { statusText: "a\nb" })],
    ["a status text beyond Latin-1", (R) => new R("a", { statusText: "\u0100" })],
    ["an invalid header name", (R) => new R("a", { headers: { "a b": "1" } })],
    ["a value of a header with a line break", (R) => new R("a", { headers: { a: "1\r\nb: 2" } })],
    ["json() of a value that JSON cannot hold", (R) => R.json(undefined)],
    ["redirect() to an invalid URL", (R) => R.redirect("http://")],
  ])("is like the platform's class for %s", async (_, make) => {
    expect(await seen(FastResponse, make)).toEqual(await seen(Response, make));
  });

  it("is like the platform's class for any text and headers", async () => {
    const name = fc.stringMatching(/^[!#$%&'*+.^_`|~A-Za-z\d-]{1,8}$/);
    const value = fc.stringMatching(/^[\t -~\u0080-\u00ff]{0,12}$/);
    const headers = fc.array(fc.tuple(name, value), { maxLength: 4 });
    const status = fc.integer({ min: 200, max: 599 });
    await fc.assert(
      fc.asyncProperty(
        fc.option(fc.string({ unit: "binary" })),
        headers,
        status,
        async (...given) => {
          const [body, fields, code] = given;
          const make: Make = (R) => new R(body, { headers: fields, status: code });
          expect(await seen(FastResponse, make)).toEqual(await seen(Response, make));
        },
      ),
      { numRuns: 300 },
    );
  });

  it("is a Response, and keeps a form and its boundary", async () => {
    const response = new FastResponse(form());
    expect(response).toBeInstanceOf(Response);
    expect((await response.formData()).get("a")).toBe("1");
  });

  it("does not follow changes of the bytes that it was made of", async () => {
    const source = new Uint8Array([1, 2]);
    const response = new FastResponse(source);
    source.fill(9);
    expect([...(await response.bytes())]).toEqual([1, 2]);
  });

  it("is asked about its own instances when it is extended", () => {
    class Page extends FastResponse {}
    expect(new Page("a")).toBeInstanceOf(Page);
    expect(new Page("a")).toBeInstanceOf(Response);
    expect(new FastResponse("a")).not.toBeInstanceOf(Page);
  });

  it("may be one constant for all requests, whose headers a middleware changes for each", async () => {
    const constant = new FastResponse("same");
    const handler: Handler = () => constant;
    await using server = await serve(handler, {
      port: 0,
      hostname: "127.0.0.1",
      signals: false,
      gracePeriod: 0,
    });
    for (let count = 0; count < 3; count += 1) {
      const response = await fetch(server.url);
      expect([response.headers.get("content-length"), await response.text()]).toEqual([
        "4",
        "same",
      ]);
    }
  });
});

describe("serve({ fastResponse })", () => {
  it("touches no global without the option", async () => {
    const kept = globalThis.Response;
    await using server = await serve(() => new Response("a"), {
      port: 0,
      signals: false,
      gracePeriod: 0,
    });
    expect(globalThis.Response).toBe(kept);
    expect(await (await fetch(server.url)).text()).toBe("a");
  });

  it("makes the responses of a Hono application cheap, and fetch() goes on working", async () => {
    const kept = globalThis.Response;
    try {
      const app = new Hono()
        .get("/json", (context) => context.json({ a: 1 }, 201, { "x-a": "1" }))
        .get("/text", (context) => context.text("é"))
        .get("/html", (context) => context.html("<p>"))
        .get("/none", (context) => context.body(null, 204))
        .get("/stream", (context) => context.body(new Blob(["abc"]).stream()))
        .get("/platform", () => fetch("data:text/plain,inner"));
      const options = {
        port: 0,
        hostname: "127.0.0.1",
        signals: false,
        gracePeriod: 0,
        fastResponse: true,
      };
      await using server = await serve(app.fetch, options);
      expect(globalThis.Response).toBe(FastResponse);
      const get = async (path: string): Promise<unknown> => {
        const response = await fetch(new URL(path, server.url));
        expect(response).toBeInstanceOf(Response);
        const { status, headers } = response;
        return [status, headers.get("content-type"), headers.get("x-a"), await response.text()];
      };
      expect(await get("/json")).toEqual([201, "application/json", "1", '{"a":1}']);
      expect(await get("/text")).toEqual([200, "text/plain;charset=UTF-8", null, "é"]);
      expect(await get("/html")).toEqual([200, "text/html; charset=UTF-8", null, "<p>"]);
      expect(await get("/none")).toEqual([204, null, null, ""]);
      expect(await get("/stream")).toEqual([200, null, null, "abc"]);
      expect(await get("/platform")).toEqual([200, "text/plain", null, "inner"]);
      expect(await get("/other")).toEqual([
        404,
        "text/plain; charset=UTF-8",
        null,
        "404 Not Found",
      ]);
    } finally {
      globalThis.Response = kept;
    }
  });
});
