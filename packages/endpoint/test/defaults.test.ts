import { describe, expect, it } from "vitest";
import { createEndpoint, endpoint } from "../src/index.ts";

const initial = {
  method: "GET",
  baseUrl: "{base_url}",
  headers: {
    accept: "application/vnd.vendor.v3+json",
    "user-agent": "fetchwork-endpoint/0.1.0",
  },
  mediaType: { format: "" },
};

describe("DEFAULTS", () => {
  it("DEFAULTS are those of the specification", () => {
    expect(endpoint.DEFAULTS).toStrictEqual(initial);
  });

  it("DEFAULTS are frozen, and no call changes them", () => {
    const builder = endpoint.defaults({ mediaType: { previews: ["a"] }, list: [1] });
    const before = structuredClone(builder.DEFAULTS);
    builder("POST /graphql", { headers: { a: "b" }, mediaType: { previews: ["b"] }, list: [2] });
    builder.merge("/x", { request: { a: 1 } });
    builder.defaults({ baseUrl: "/y", headers: { accept: null } });
    expect(builder.DEFAULTS).toStrictEqual(before);
    expect(endpoint.DEFAULTS).toStrictEqual(initial);
    expect(() => Object.assign(endpoint.DEFAULTS, { method: "PUT" })).toThrow(TypeError);
    expect(() => Object.assign(endpoint.DEFAULTS.headers, { a: "b" })).toThrow(TypeError);
    expect(() => Object.assign(endpoint.DEFAULTS.mediaType, { format: "b" })).toThrow(TypeError);
  });
});

describe("defaults", () => {
  const first = endpoint.defaults({ baseUrl: "https://a.example/", org: "o", headers: { A: "1" } });
  const second = first.defaults({ per_page: 100, headers: { b: "2" }, request: { timeout: 1 } });

  it("defaults() builds on the defaults of its builder", () => {
    expect(second("GET /orgs/{org}/repos", { type: "all" })).toStrictEqual({
      method: "get",
      url: "https://a.example/orgs/o/repos?per_page=100&type=all",
      headers: { ...initial.headers, a: "1", b: "2" },
      request: { timeout: 1 },
    });
    expect(first("GET /orgs/{org}/repos").url).toBe("https://a.example/orgs/o/repos");
  });

  it("options override defaults, undefined does not", () => {
    expect(second("GET /{org}", { org: "x", per_page: null }).url).toBe("https://a.example/x");
    expect(second("GET /{org}", { org: undefined }).url).toBe("https://a.example/o?per_page=100");
    expect(second("GET /x", { baseUrl: "" }).url).toBe("/x?org=o&per_page=100");
  });

  it("defaults may contain method, url and media type", () => {
    const builder = endpoint.defaults({ method: "POST", url: "/x", mediaType: { format: "raw" } });
    expect(builder({ url: "/x", a: 1 })).toMatchObject({
      method: "post",
      url: "{base_url}/x",
      headers: { accept: "application/vnd.vendor.v3.raw" },
      body: { a: 1 },
    });
    expect(builder({} as never)).toMatchObject({ url: "{base_url}/x" });
  });

  it("defaults() does not keep an object of the caller", () => {
    const options = { org: "a", headers: { a: "1" } };
    const builder = endpoint.defaults(options);
    options.org = "b";
    options.headers.a = "2";
    expect(builder("/{org}")).toMatchObject({ url: "{base_url}/a", headers: { a: "1" } });
  });

  it("defaults() merges plain objects key by key, and replaces all other values", () => {
    const agent = new Map();
    const builder = endpoint.defaults({ a: { b: 1, c: { d: 1 } }, list: [1], request: { agent } });
    const merged = builder.merge("POST /x", { a: { c: { e: 2 } }, list: [2], request: { x: 1 } });
    expect(merged).toMatchObject({ a: { b: 1, c: { d: 1, e: 2 } }, list: [2] });
    expect(builder("POST /x", { a: { c: 1 } }).body).toEqual({ a: { b: 1, c: 1 }, list: [1] });
    expect((merged["request"] as { agent: unknown }).agent).toBe(agent);
  });

  it("defaults() checks its options at once", () => {
    expect(() => endpoint.defaults({ method: "" })).toThrow(TypeError);
    expect(() => endpoint.defaults({ baseUrl: "a b" })).toThrow(TypeError);
    expect(() => endpoint.defaults({ mediaType: { format: "a b" } })).toThrow(TypeError);
    expect(() => endpoint.defaults(5 as never)).toThrow(TypeError);
  });

  it("a parameter with the name __proto__ does not change a prototype", () => {
    const builder = endpoint.defaults(JSON.parse('{"__proto__":{"polluted":1}}'));
    builder(
      "POST /x",
      JSON.parse('{"__proto__":{"polluted":2},"constructor":{"prototype":{"y":1}}}'),
    );
    expect({}).not.toHaveProperty("polluted");
    expect(Object.getPrototypeOf(builder.merge("/x"))).toBe(Object.prototype);
  });
});

describe("previews of defaults", () => {
  const builder = endpoint.defaults({ mediaType: { previews: ["a", "b"] } });
  const accept = (...names: readonly string[]): string =>
    names.map((name) => `application/vnd.vendor.${name}-preview+json`).join();

  it("previews of defaults and of a call are sent together to GraphQL", () => {
    const previews = ["c-preview", "a"];
    const call = builder("POST /graphql", { mediaType: { previews } });
    expect(call.headers["accept"]).toBe(accept("a", "b", "c"));
    expect(builder({ url: "/api/graphql", mediaType: { previews } }).headers["accept"]).toBe(
      accept("a", "b", "c"),
    );
    expect(builder("POST /graphql").headers["accept"]).toBe(accept("a", "b"));
    expect(builder.DEFAULTS.mediaType).toEqual({ format: "", previews: ["a", "b"] });
  });

  it("previews of defaults lose the suffix -preview, as they would in a call", () => {
    const { DEFAULTS } = endpoint.defaults({ mediaType: { previews: ["foo-preview", "foo"] } });
    expect(DEFAULTS.mediaType.previews).toEqual(["foo"]);
  });

  it("previews of later defaults replace earlier ones, and so do those of a call to another URL", () => {
    const other = builder.defaults({ mediaType: { previews: ["c"] } });
    expect(other("POST /graphql").headers["accept"]).toBe(accept("c"));
    expect(builder.merge("/x", { mediaType: { previews: ["c"] } }).mediaType.previews).toEqual([
      "c",
    ]);
  });

  it("mediaType is checked by name", () => {
    for (const [mediaType, message] of [
      [{ preview: ["a"] }, 'mediaType has no option "preview"; it has format, previews'],
      [{ previews: "a" }, "mediaType.previews must be a list of names"],
      [{ format: "a b" }, "mediaType.format must be a token"],
    ] as const) {
      expect(() => endpoint("POST /graphql", { mediaType: mediaType as never })).toThrow(message);
    }
  });
});

describe("merge and parse", () => {
  it("merge() returns options that are not parsed", () => {
    expect(endpoint.merge("POST /x/{a}", { a: 1, headers: { Accept: "b" } })).toStrictEqual({
      ...initial,
      method: "POST",
      url: "/x/{a}",
      headers: { ...initial.headers, accept: "b" },
      a: 1,
    });
    expect(endpoint.merge()).toStrictEqual(initial);
    expect(endpoint.merge({ url: "/x" })).toStrictEqual({ ...initial, url: "/x" });
  });

  it("parse() accepts options that were not merged", () => {
    expect(endpoint.parse({ url: "https://h.example/x", headers: { A: 1 }, b: 2 })).toStrictEqual({
      method: "get",
      url: "https://h.example/x?b=2",
      headers: { a: "1" },
    });
  });

  it("parse() keeps the settings of the builder", () => {
    const upper = createEndpoint({ methodCase: "upper" });
    expect(upper.parse(upper.merge("/x")).method).toBe("GET");
    expect(upper.defaults({ a: 1 })("/x").method).toBe("GET");
  });

  it("parse() returns request unchanged", () => {
    const request = { agent: new Map() };
    expect(endpoint("/x", { request }).request).toBe(request);
    expect(endpoint("/x", { request: 5 }).request).toBe(5);
  });
});
