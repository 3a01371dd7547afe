import { describe, expect, it } from "vitest";
import { processorTime } from "../../kit/test/processor-time.ts";
import { createEndpoint, endpoint, type EndpointOptions } from "../src/index.ts";

const api = createEndpoint({ baseUrl: "https://api.example.com/v1", onMissing: "empty" });

function refused(code: string): object {
  return expect.objectContaining({ code, name: "EndpointError" });
}

describe("the host", () => {
  it.each([
    ["GET https://{h}/x", { h: "evil.example/" }],
    ["GET https://{h}/x", { h: "a@evil.example" }],
    ["GET https://{h}/x", {}],
    ["GET https://{h}/x", { h: "" }],
    ["GET https://{h}.example.com/x", { h: "evil.example/" }],
    ["GET https://{+h}.example.com/x", { h: "evil.example/" }],
    ["GET https://{+h}.example.com/x", { h: "evil.example#" }],
    ["GET https://{+h}.example.com/x", { h: "evil.example?" }],
    ["GET https://{+h}.example.com/x", { h: "a@evil.example:80/" }],
    ["GET https://{a}.{+h}.example.com/x", { a: "a", h: "evil.example/" }],
    ["GET https://api.example.com{+path}", { path: ".evil.example/x" }],
    ["GET https://api.example.com{+path}", { path: "@evil.example/x" }],
    ["GET https://api.example.com{+path}", { path: ":80@evil.example/x" }],
    ["GET https://api.example.com{x}", { x: ".evil.example" }],
    ["GET https://api.example.com{.x}", { x: "evil" }],
  ] as [string, EndpointOptions][])(
    "a value does not change the host: %s with %o",
    (route, options) => {
      expect(() => api(route, options)).toThrow(refused("ERR_ENDPOINT_HOST"));
    },
  );

  it.each([
    ["GET https://{h}/x", { h: "eu.example.com" }, "https://eu.example.com/x"],
    ["GET https://{+h}/x", { h: "localhost:80" }, "https://localhost:80/x"],
    ["GET https://{h}.example.com/x", { h: "eu" }, "https://eu.example.com/x"],
    ["GET https://eu{n}.example.com/x", { n: "-1" }, "https://eu-1.example.com/x"],
    ["GET http://localhost:{port}/", { port: 80 }, "http://localhost:80/"],
    ["GET https://api.example.com{+path}", { path: "/x" }, "https://api.example.com/x"],
    [
      "GET https://api.example.com{/a}{?b}",
      { a: "x", b: "/@." },
      "https://api.example.com/x?b=%2F%40.",
    ],
    ["GET https://api.example.com{?b}", {}, "https://api.example.com"],
  ] as [string, EndpointOptions, string][])(
    "the host may have variables: %s with %o",
    (route, options, url) => {
      expect(api(route, options).url).toBe(url);
    },
  );

  it.each([
    "https://evil.example/",
    "//evil.example",
    "/\\evil.example",
    ".evil.example",
    "@evil.example",
    "\t//evil.example",
  ])("the host of a relative url is that of the base with %j", (value) => {
    for (const route of ["GET {+a}", "GET /{+a}", "GET {a}", "GET {/a}", "GET {+a}/x"]) {
      expect(new URL(api(route, { a: value }).url).host).toBe("api.example.com");
    }
  });

  it("a path never becomes the host when there is no base", () => {
    const bare = createEndpoint({ baseUrl: "", onMissing: "empty" });
    expect(() => bare("GET /{+a}", { a: "/evil.example" })).toThrow(refused("ERR_ENDPOINT_HOST"));
    expect(() => bare("GET /{a}/evil.example", { a: "" })).toThrow(refused("ERR_ENDPOINT_HOST"));
    expect(bare("GET /{a}/x", { a: [] }).url).toBe("/x");
  });
});

describe("the path", () => {
  it.each([
    ["GET /a/{b}/c", { b: ".." }],
    ["GET /a/{b}", { b: "." }],
    ["GET /a/:b", { b: ".." }],
    ["GET /a/{b}{c}", { b: ".", c: "." }],
    ["GET /a{/b}", { b: ".." }],
    ["GET /a{/b*}", { b: ["x", ".."] }],
    ["GET /a/{+b}", { b: "../../x" }],
    ["GET /a/{+b}", { b: "%2e%2E/x" }],
    ["GET /a/{+b}", { b: ".%2e" }],
    ["GET {b}/x", { b: ".." }],
    ["GET /a/{b}?x=1", { b: ".." }],
    ["GET https://h.example/{b}", { b: ".." }],
  ] as [string, EndpointOptions][])(
    "a value does not leave the path: %s with %o",
    (route, options) => {
      expect(() => api(route, options)).toThrow(refused("ERR_ENDPOINT_PATH"));
    },
  );

  it.each([
    ["GET /a/{b}", { b: "..." }, "/a/..."],
    ["GET /a/{b}", { b: ".x" }, "/a/.x"],
    ["GET /a/{b}", { b: "../x" }, "/a/..%2Fx"],
    ["GET /a/{b}", { b: "%2e%2e" }, "/a/%252e%252e"],
    ["GET /a{?b}", { b: "/../" }, "/a?b=%2F..%2F"],
    ["GET /a/{b}?c=/../", { b: 1 }, "/a/1?c=/../"],
    ["GET /a/../b", {}, "/a/../b"],
  ] as [string, EndpointOptions, string][])(
    "a path may contain dots: %s with %o",
    (route, options, url) => {
      expect(api(route, options).url).toBe(`https://api.example.com/v1${url}`);
    },
  );
});

describe("cyclic data", () => {
  it("endpoint() accepts cyclic data as a body, and toRequest() rejects it", () => {
    const data: Record<string, unknown> = {};
    data["self"] = data;
    expect(api("POST /x", { data }).body).toBe(data);
    expect(api("POST /x", data).body).toHaveProperty("self", data);
  });

  it("merge() rejects two cyclic values", () => {
    const a: Record<string, unknown> = {};
    a["a"] = a;
    const b: Record<string, unknown> = {};
    b["a"] = b;
    expect(() => api.defaults({ a })("POST /x", { a: b })).toThrow(refused("ERR_ENDPOINT_OPTION"));
  });
});

describe("time", () => {
  const cases: readonly (readonly [string, (size: number) => () => unknown])[] = [
    ["{", (n) => () => endpoint(`GET /${"{".repeat(n)}`)],
    ["{a}", (n) => () => endpoint(`GET /${"{a}".repeat(n / 3)}`, { a: 1 })],
    ["{a} that are missing", (n) => () => endpoint(`GET /${"{a}".repeat(n / 3)}`)],
    ["/{a} that are missing", (n) => () => endpoint(`GET ${"/{a}".repeat(n / 4)}`)],
    [":aa", (n) => () => endpoint(`GET /${":aa".repeat(n / 3)}`)],
    [":", (n) => () => endpoint(`GET /${":".repeat(n)}`)],
    ["a long name", (n) => () => endpoint(`GET /{${"a".repeat(n)}}`)],
    ["a name with dots", (n) => () => endpoint(`GET /{${"a.".repeat(n / 2)}}`)],
    ["a long list", (n) => () => endpoint(`GET /{${"a,".repeat(n / 2)}}`)],
    ["spaces", (n) => () => endpoint(`GET${" ".repeat(n)}/x`)],
    ["slashes", (n) => () => endpoint(`GET ${"/".repeat(n)}{a}`, { a: 1 })],
    ["dots", (n) => () => endpoint("GET /{+a}", { a: "/.a/%2e".repeat(n / 7) })],
    ["question marks", (n) => () => endpoint("GET /x{+a}", { a: "?/./".repeat(n / 4), b: 1 })],
    ["percent signs", (n) => () => endpoint("GET /{+a}", { a: "%".repeat(n) })],
    ["a host", (n) => () => endpoint(`GET https://${"{a}.".repeat(n / 4)}x/`, { a: "a" })],
    ["hyphens in accept", (n) => () => accept("-".repeat(n))],
    ["a vendor in accept", (n) => () => accept(`application/vnd.${".v3".repeat(n / 3)}`)],
    ["digits in accept", (n) => () => accept(`application/vnd.a.v${"3".repeat(n)}x-`)],
    ["spaces in accept", (n) => () => accept(" ".repeat(n))],
    ["a long method", (n) => () => endpoint(`${"A".repeat(n)} /x`)],
  ];

  function accept(text: string): unknown {
    const headers = { accept: text };
    endpoint("POST /graphql", { headers, mediaType: { previews: ["a"] } });
    return endpoint("GET /x", { headers, mediaType: { format: "raw" } });
  }

  it.each(cases)("the time is linear in the size: %s", (_, make) => {
    const run = make(1_000_000);
    const begun = processorTime();
    try {
      run();
    } catch (error) {
      expect(error).toBeInstanceOf(TypeError);
    }
    expect(processorTime(begun)).toBeLessThan(4_000);
  });
});
