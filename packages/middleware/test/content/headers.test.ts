import { createContext, empty, text, wrap, type Handler } from "@fetchwork/http";
import { describe, expect, it } from "vitest";
import type { HeaderFields } from "../../src/content/header-fields.ts";
import { headers, requestHeaders } from "../../src/index.ts";

const request = (): Request => new Request("http://localhost/");

/** Responds with the headers that it sees. */
const echo: Handler = ({ headers: seen }) => Response.json(Object.fromEntries(seen));

describe.each([
  ["headers", headers],
  ["requestHeaders", requestHeaders],
])("%s", (_name, make) => {
  it.each([
    ["a field without a colon", "bad"],
    ["an empty name", ":v1"],
    ["a name with a space inside", "h 1:v1"],
    ["a line break in a value", "h1:v1\r\nset-cookie:a=1"],
    ["a NUL", "h1:\0"],
    ["a character above U+00FF", "h1:\u{1f600}"],
  ])("refuses %s", (_case, field) => {
    expect(() => make(field)).toThrow(
      expect.objectContaining({ name: "MiddlewareError", code: "ERR_MIDDLEWARE_OPTION" }),
    );
  });

  it("refuses what is neither text nor an object", () => {
    // @ts-expect-error: not a field
    expect(() => make(7)).toThrow(/header must be .*, got 7/);
    // @ts-expect-error: not a value
    expect(() => make({ h1: 7 })).toThrow(/header h1 must be .*, got 7/);
  });
});

describe("headers", () => {
  const cases: [string, HeaderFields[], [string, string][]][] = [
    [
      "A1: two fields",
      ["h1:v1", "h2:v2"],
      [
        ["h1", "v1"],
        ["h2", "v2"],
      ],
    ],
    [
      "A1: a value with colons is kept (Go drops it)",
      ["Location:http://x"],
      [["location", "http://x"]],
    ],
    ["white space around a value goes", ["h1: \tv1 "], [["h1", "v1"]]],
    [
      "an object",
      [{ H1: "v1", h2: "" }],
      [
        ["h1", "v1"],
        ["h2", ""],
      ],
    ],
    ["a name given twice", ["link:</a>", "link:</b>"], [["link", "</a>, </b>"]]],
    ["nothing", [], []],
  ];
  it.each(cases)("sets on the response: %s", async (_case, fields, expected) => {
    const response = await wrap(() => empty(200), headers(...fields))(request());
    expect([...response.headers]).toEqual(expected);
  });

  it("keeps what the handler set, merges Vary and adds cookies", async () => {
    const handler = wrap(
      () => text("x", { headers: { "x-a": "handler", vary: "Origin", "set-cookie": "a=1" } }),
      headers({ "x-a": "outside", vary: "origin, Accept", "set-cookie": "b=2" }, "x-a:again"),
    );
    const response = await handler(request());
    expect(response.headers.get("x-a")).toBe("handler");
    expect(response.headers.get("vary")).toBe("Origin, Accept");
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  });

  it("responds at once when the handler does", () => {
    const incoming = request();
    const handler = headers("a:b")(() => empty());
    expect(handler(incoming, createContext(incoming))).toBeInstanceOf(Response);
  });

  it("changes immutable headers", async () => {
    const handler = wrap(() => Response.redirect("http://localhost/x"), headers("a:b"));
    expect((await handler(request())).headers.get("a")).toBe("b");
  });
});

describe("requestHeaders", () => {
  it("A1: sets headers of the request, instead of the client's", async () => {
    const handler = wrap(echo, requestHeaders("h1:v1", "H2: v2", "h3:a", "h3:b"));
    const incoming = new Request("http://localhost/", { headers: { h1: "spoofed", h4: "v4" } });
    expect(await (await handler(incoming)).json()).toEqual({
      h1: "v1",
      h2: "v2",
      h3: "a, b",
      h4: "v4",
    });
  });

  it("changes neither the response nor the incoming request", async () => {
    const incoming = request();
    const response = await wrap(() => empty(), requestHeaders("h1:v1"))(incoming);
    expect([...response.headers]).toEqual([]);
    expect([...incoming.headers]).toEqual([]);
  });
});
