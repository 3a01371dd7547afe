import { describe, expect, it } from "vitest";
import manifest from "../package.json" with { type: "json" };
import {
  compile,
  createEndpoint,
  endpoint,
  type EndpointOptions,
  githubPreset,
} from "../src/index.ts";

const api = endpoint.defaults({ baseUrl: "https://api.example.com" });
const accept = "application/vnd.vendor.v3+json";
const userAgent = `fetchwork-endpoint/${manifest.version}`;
const headers = { accept, "user-agent": userAgent };
const json = { ...headers, "content-type": "application/json; charset=utf-8" };

/** What the original does about missing variables. */
const lenient = createEndpoint({ baseUrl: "https://api.example.com", onMissing: "empty" });

/** The url of a request without the base. */
function path(route: string, options: EndpointOptions = {}): string {
  return lenient(route, options).url.replace("https://api.example.com", "");
}

describe("call forms", () => {
  it("endpoint() accepts a route and options", () => {
    expect(api("GET /orgs/{org}/repos", { org: "octo", type: "private" })).toStrictEqual({
      method: "get",
      url: "https://api.example.com/orgs/octo/repos?type=private",
      headers,
    });
  });

  it("endpoint() accepts options alone", () => {
    expect(api({ method: "DELETE", url: "/a/{id}", id: 1, why: "x" })).toStrictEqual({
      method: "delete",
      url: "https://api.example.com/a/1",
      headers: json,
      body: { why: "x" },
    });
  });

  it("endpoint() defaults to GET for a route that is only a url", () => {
    expect(api("/a")).toStrictEqual({ method: "get", url: "https://api.example.com/a", headers });
  });

  it("method and url of the options override those of the route", () => {
    expect(api("GET /a", { method: "POST", url: "/b" })).toMatchObject({
      method: "post",
      url: "https://api.example.com/b",
    });
  });

  it.each(["GET  /x", " GET /x ", "get /x", "Get /x"])("endpoint() reads %j as GET /x", (route) => {
    expect(api(route)).toStrictEqual(api("GET /x"));
  });

  it.each(["PATCH", "put", "OPTIONS", "QUERY", "FOO", "x-y"])(
    "endpoint() accepts the method %s",
    (method) => {
      expect(api(`${method} /x`, { a: 1 })).toMatchObject({
        method: method.toLowerCase(),
        body: { a: 1 },
      });
    },
  );

  it.each([
    ["GET", "ERR_ENDPOINT_TEMPLATE"],
    ["GET ", "ERR_ENDPOINT_TEMPLATE"],
    ["", "ERR_ENDPOINT_TEMPLATE"],
    [" ", "ERR_ENDPOINT_TEMPLATE"],
    ["GET /x y", "ERR_ENDPOINT_TEMPLATE"],
    ["/x y", "ERR_ENDPOINT_TEMPLATE"],
    ["GET /{a", "ERR_ENDPOINT_TEMPLATE"],
    ["GET /{headers}", "ERR_ENDPOINT_TEMPLATE"],
    ["GET /{method}", "ERR_ENDPOINT_TEMPLATE"],
    ["GET\n/x", "ERR_ENDPOINT_TEMPLATE"],
    [5, "ERR_ENDPOINT_TEMPLATE"],
    [null, "ERR_ENDPOINT_TEMPLATE"],
    [undefined, "ERR_ENDPOINT_TEMPLATE"],
    [{}, "ERR_ENDPOINT_TEMPLATE"],
    [{ url: 5 }, "ERR_ENDPOINT_TEMPLATE"],
    [{ url: null }, "ERR_ENDPOINT_TEMPLATE"],
    [{ url: "/x", method: "G T" }, "ERR_ENDPOINT_METHOD"],
    [{ url: "/x", method: 1 }, "ERR_ENDPOINT_METHOD"],
    [{ url: "/x", baseUrl: null }, "ERR_ENDPOINT_OPTION"],
    [{ url: "/x", baseUrl: "https://h /" }, "ERR_ENDPOINT_OPTION"],
    [{ url: "/x", baseUrl: "https://h?a" }, "ERR_ENDPOINT_OPTION"],
    [{ url: "/x", baseUrl: "https:\\\\h" }, "ERR_ENDPOINT_OPTION"],
    [{ url: "/x", mediaType: 5 }, "ERR_ENDPOINT_OPTION"],
    [{ url: "/x", mediaType: { format: "a\r\nb" } }, "ERR_ENDPOINT_OPTION"],
    [{ url: "/x", mediaType: { previews: "x" } }, "ERR_ENDPOINT_OPTION"],
    [{ url: "/x", headers: 5 }, "ERR_ENDPOINT_OPTION"],
  ])("endpoint() rejects %j with %s", (given, code) => {
    const call = api as (given: unknown) => unknown;
    expect(() => call(given)).toThrow(expect.objectContaining({ code, name: "EndpointError" }));
    expect(() => call(given)).toThrow(TypeError);
  });

  it("endpoint() rejects options that are not an object", () => {
    const call = api as (...given: readonly unknown[]) => unknown;
    expect(() => call("GET /x", 5)).toThrow(
      expect.objectContaining({ code: "ERR_ENDPOINT_OPTION" }),
    );
    expect(() => api.parse(null as never)).toThrow(TypeError);
  });
});

describe("placement of parameters", () => {
  it.each([
    ["GET /{a}/:b/c", { a: 1, b: "x/y" }, "/1/x%2Fy/c"],
    ["GET /compare/:base...:head", { base: "a/b", head: "c#d" }, "/compare/a%2Fb...c%23d"],
    ["GET /x/{+path}", { path: "a/b c%20" }, "/x/a/b%20c%20"],
    ["GET /x", { a: 1, b: "é&=" }, "/x?a=1&b=%C3%A9%26%3D"],
    ["HEAD /x", { a: true }, "/x?a=true"],
    ["GET /x", { "a b&": 1, "f[]": 2 }, "/x?a%20b%26=1&f[]=2"],
    ["GET /x?fixed=1{&a}", { a: 1, b: 2 }, "/x?fixed=1&a=1&b=2"],
    ["GET /x{?a}", { b: 2 }, "/x?b=2"],
    ["GET /x{?a,b}", { b: 2 }, "/x?b=2"],
    ["GET /x?", { b: 2 }, "/x?b=2"],
    ["GET /x#part", { b: 2 }, "/x?b=2#part"],
    ["GET /x{#part}", { b: 2, part: "p" }, "/x?b=2#p"],
    ["GET /x{?a*}", { a: [1, 2] }, "/x?a=1&a=2"],
    ["GET /x{/a*}", { a: ["p", "q r"] }, "/x/p/q%20r"],
    ["GET /x/{a:2}", { a: "abc" }, "/x/ab"],
    ["GET /x", { a: undefined, b: null, c: "", d: 0 }, "/x?c=&d=0"],
    ["GET /x", { data: 1 }, "/x?data=1"],
    ["GET /x", { q: "a+b" }, "/x?q=a%2Bb"],
    ["GET /x", { d: new Date(0) }, "/x?d=1970-01-01T00%3A00%3A00.000Z"],
    ["GET /x", { a: "\ud800" }, "/x?a=%EF%BF%BD"],
    ["GET /x/", {}, "/x/"],
    ["GET x", {}, "/x"],
    ["GET ?a=1", {}, "?a=1"],
  ])("%s with %o asks for %s", (route, options, url) => {
    expect(path(route, options)).toBe(url);
  });

  it.each([
    ["GET /x/{a}", "/x"],
    ["GET /x/{a}/y", "/x/y"],
    ["GET /x/{a}/{b}/y", "/x/y"],
    ["GET /x/{a}{b}/y", "/x/y"],
    ["GET /x/{a}?y=1", "/x?y=1"],
    ["GET /x/{a}{?y}", "/x"],
    ["GET /{a}", "/"],
    ["GET {a}", "/"],
    ["GET /x.{a}.y", "/x..y"],
    ["GET /x{/a,b}{?c}{&d}", "/x"],
    ["GET https://h.example/{a}", "https://h.example"],
  ])("endpoint() leaves no stray separator where %s misses a variable", (route, url) => {
    expect(path(route)).toBe(url);
    expect(path(route, { a: null })).toBe(url);
  });

  it("endpoint() keeps an empty text in the path", () => {
    expect(path("GET /x/{a}", { a: "" })).toBe("/x/");
  });

  it.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])(
    "parameters become the body of %s",
    (method) => {
      expect(api(`${method} /x/{a}`, { a: 1, b: null, c: undefined, d: [{}] })).toStrictEqual({
        method: method.toLowerCase(),
        url: "https://api.example.com/x/1",
        headers: json,
        body: { b: null, d: [{}] },
      });
      expect(api(`${method} /x`)).toStrictEqual({
        method: method.toLowerCase(),
        url: "https://api.example.com/x",
        headers,
      });
    },
  );

  it("a template and data make query parameters and a body", () => {
    const request = api("POST https://uploads.example.com/assets{?name,label}", {
      name: "example.zip",
      label: "short description",
      dropped: 1,
      headers: { "Content-Type": "text/plain", "content-length": 13 },
      data: "Hello, world!",
    });
    expect(request).toStrictEqual({
      method: "post",
      url: "https://uploads.example.com/assets?name=example.zip&label=short%20description",
      headers: { ...headers, "content-type": "text/plain", "content-length": "13" },
      body: "Hello, world!",
    });
  });

  it.each([null, "", false, 0, ["a"], { a: 1 }])("data %j is the body", (data) => {
    expect(api("POST /x", { data })).toMatchObject({ body: data, headers: json });
  });

  it.each([
    new Uint8Array(1),
    new Blob([]),
    new FormData(),
    new URLSearchParams(),
    new ReadableStream(),
  ])("endpoint() leaves the content type of %o to the platform", (data) => {
    expect(api("POST /x", { data })).toMatchObject({ body: data, headers });
  });

  it("names of Object.prototype are names like any other", () => {
    const own = JSON.parse('{"__proto__":1,"constructor":2,"toString":3,"hasOwnProperty":4}');
    expect(path("GET /x", own)).toBe("/x?__proto__=1&constructor=2&toString=3&hasOwnProperty=4");
    expect(JSON.stringify(api("POST /x", own).body)).toBe(JSON.stringify(own));
    expect(path("GET /x/{__proto__}/{toString}", own)).toContain("/x/1/3?");
    expect(path("GET /x/{constructor}/y")).toBe("/x/y");
    expect(Object.getPrototypeOf(api("POST /x", own).body)).toBe(Object.prototype);
  });

  it.each([[{ a: { b: 1 } }], [{ a: [[1]] }], [{ a: () => 1 }], [{ data: {} }]])(
    "endpoint() rejects %o as a query parameter",
    (options) => {
      expect(() => api("GET /x", options)).toThrow(
        expect.objectContaining({ code: "ERR_ENDPOINT_VALUE" }),
      );
    },
  );

  it("arrayFormat decides how a list is written", () => {
    const options = { baseUrl: "", a: [1, null, "b,c"], e: [] };
    const url = (arrayFormat?: "comma" | "repeat" | "brackets"): string =>
      createEndpoint({ arrayFormat })("GET /x", options).url;
    expect(url()).toBe("/x?a=1,b%2Cc");
    expect(url("repeat")).toBe("/x?a=1&a=b%2Cc");
    expect(url("brackets")).toBe("/x?a[]=1&a[]=b%2Cc");
  });
});

describe("colons", () => {
  it.each([
    ["GET https://user:pass@h.example:80/:id", "https://user:pass@h.example:80/1"],
    ["GET https://h.example:id/x", "https://h.example:id/x?id=1"],
    ["GET /x:id/{id}:cancel", "/x:id/1:cancel"],
    ["GET /a::id", "/a::id?id=1"],
    ["GET /:3000/:id", "/:3000/1"],
    ["GET /x?at=:id", "/x?at=:id&id=1"],
    ["GET /:id.json", "/1.json"],
    ["GET :id", "/1"],
  ])("a colon begins a variable only at the start of a word in the path: %s", (route, url) => {
    expect(path(route, { id: 1 })).toBe(url);
  });
});

describe("headers", () => {
  it("header names become lower case, and the last of two equal ones wins", () => {
    const request = api("GET /x", { headers: { Accept: "a/a", ACCEPT: "b/b", "X-N": 1 } });
    expect(request.headers).toStrictEqual({ ...headers, accept: "b/b", "x-n": "1" });
  });

  it("headers may be Headers or pairs; undefined is ignored, null removes a default", () => {
    expect(api("GET /x", { headers: new Headers({ X: "1" }) }).headers["x"]).toBe("1");
    expect(api("GET /x", { headers: [["Y", "2"]] }).headers["y"]).toBe("2");
    expect(api("GET /x", { headers: { accept: undefined } }).headers).toStrictEqual(headers);
    expect(api("GET /x", { headers: { Accept: null } }).headers).toStrictEqual({
      "user-agent": userAgent,
    });
    expect(api("GET /x", { headers: null }).headers).toStrictEqual(headers);
  });

  it.each([
    { a: "b\r\nc: d" },
    { a: "b\nc" },
    { a: "b\0" },
    { "a b": "c" },
    { "a\r\nb": "c" },
    { "": "a" },
    { a: "€" },
    { a: {} },
  ])("endpoint() rejects the headers %j", (given) => {
    expect(() => api("GET /x", { headers: given as never })).toThrow(
      expect.objectContaining({ code: "ERR_ENDPOINT_HEADER" }),
    );
    expect(() => api.defaults({ headers: given as never })).toThrow(TypeError);
    expect(() => api.parse({ url: "/x", headers: given as never })).toThrow(TypeError);
  });

  it("the error does not contain the value of a header", () => {
    expect(() => api("GET /x", { headers: { authorization: "secret\n" } })).toThrow(/^[^\n]*$/);
    expect(() => api("GET /x", { headers: { authorization: "secret\n" } })).not.toThrow(/secret/);
  });
});

describe("media types", () => {
  it.each([
    ["raw", undefined, "application/vnd.vendor.v3.raw"],
    ["text+json", undefined, "application/vnd.vendor.v3.text+json"],
    [
      "diff",
      "application/vnd.a.v3+json,application/vnd.b+json, text/html",
      "application/vnd.a.v3.diff,application/vnd.b.diff, text/html",
    ],
    ["raw", "application/vnd.a.v3.full+json", "application/vnd.a.v3.raw"],
    ["raw", "application/vnd.a.v3+json;q=0.5", "application/vnd.a.v3+json;q=0.5"],
    ["raw", "application/octet-stream", "application/octet-stream"],
    ["", "text/plain", "text/plain"],
  ])("the format %s changes accept: %s -> %s", (format, given, expected) => {
    const request = api("GET /x", { mediaType: { format }, headers: { accept: given } });
    expect(request.headers["accept"]).toBe(expected);
  });

  it("endpoint() adds previews for GraphQL", () => {
    const mediaType = { previews: ["a-preview", "b"] };
    const request = (options: EndpointOptions): string | undefined =>
      createEndpoint({ vendor: githubPreset })("POST /graphql", options).headers["accept"];
    const full = "application/vnd.github.a-preview+json,application/vnd.github.b-preview+json";
    expect(request({ mediaType })).toBe(full);
    expect(
      request({
        mediaType: { previews: ["b"], format: "raw" },
        headers: { accept: "application/vnd.a-preview+json" },
      }),
    ).toBe(full.replaceAll("+json", ".raw"));
    expect(request({ url: "/x", mediaType })).toBe("application/vnd.github.v3+json");
  });
});

describe("presets", () => {
  const gh = createEndpoint({ vendor: githubPreset });

  it("githubPreset leaves a missing variable out, unless the options refuse it", () => {
    const route: string = "GET /repos/{owner}/{repo}/branches/{branch}";
    const given = { owner: "octo", repo: "hello" };
    expect(gh(route, given).url).toBe("https://api.github.com/repos/octo/hello/branches");
    const strict = createEndpoint({ vendor: githubPreset, onMissing: "throw" });
    expect(() => strict(route, given)).toThrow('the variable "branch" is missing');
  });

  it("githubPreset has the base and the method case of GitHub's API", () => {
    expect(gh("GET /search/issues", { q: "a b+c d" })).toMatchObject({
      method: "GET",
      url: "https://api.github.com/search/issues?q=a%20b+c%20d",
      headers: { accept: "application/vnd.github.v3+json" },
    });
    expect(gh("PUT /x/").url).toBe("https://api.github.com/x");
    expect(gh("PUT /x")).not.toHaveProperty("body");
    expect(gh("GET /").url).toBe("https://api.github.com/");
  });

  it("createEndpoint() accepts a name, a base, a case and a user agent", () => {
    const acme = createEndpoint({
      vendor: "acme",
      baseUrl: "/api/",
      methodCase: "upper",
      userAgent: "me/1",
    });
    expect(acme("GET /x")).toStrictEqual({
      method: "GET",
      url: "/api/x",
      headers: { accept: "application/vnd.acme.v3+json", "user-agent": "me/1" },
    });
  });

  it.each([
    { vendor: "a b" },
    { vendor: "" },
    { methodCase: "Lower" },
    { arrayFormat: "x" },
    { onMissing: "skip" },
    { userAgent: "a\nb" },
    { baseUrl: "a b" },
  ])("createEndpoint() rejects %j", (options) => {
    expect(() => createEndpoint(options as never)).toThrow(TypeError);
  });
});

describe("variables of a path", () => {
  const strict = createEndpoint({ baseUrl: "" });
  const missing = expect.objectContaining({ code: "ERR_ENDPOINT_MISSING" });

  it.each(["DELETE /x/{a}", "DELETE /x/:a", "DELETE /x/{+a}"])(
    "variables of a path are required by default: %s",
    (route) => {
      for (const value of [undefined, null, "", [], {}, [""], NaN, Infinity, -Infinity, [1, NaN]]) {
        expect(() => strict(route, { a: value })).toThrow(missing);
        expect(() => strict.compile(route)({ a: value })).toThrow(missing);
      }
      expect(() => strict(route)).toThrow('the variable "a" is missing');
      expect(() => strict(route, { a: "" })).toThrow('the variable "a" is empty or not finite');
      expect(strict(route, { a: 1 }).url).toBe("/x/1");
      expect(strict(route, { a: 0 }).url).toBe("/x/0");
      expect(strict.defaults({ a: 2 })(route).url).toBe("/x/2");
    },
  );

  it("the default builder never turns the path of one resource into the path of all", () => {
    const route: string = "DELETE /users/{id}";
    for (const id of [undefined, null, "", NaN]) expect(() => api(route, { id })).toThrow(missing);
    const repository: string = "GET /repos/:owner/x";
    expect(() => api(repository)).toThrow('the variable "owner" is missing');
  });

  it("onMissing empty omits missing variables, as the original does", () => {
    const route: string = "DELETE /users/{id}";
    expect(path(route)).toBe("/users");
    expect(path(route, { id: "" })).toBe("/users/");
    expect(path(route, { id: NaN })).toBe("/users/NaN");
  });

  it("variables of other operators may be missing, but not empty in a path", () => {
    expect(strict("GET /x{/a}{.b}{;c}{?d}{#e}").url).toBe("/x");
    expect(strict("GET /x{/a}{?d}", { a: undefined, d: null }).url).toBe("/x");
    for (const [route, value] of [
      ["DELETE /users{/a}", ""],
      ["DELETE /users{/a}", NaN],
      ["DELETE /users{/a*}", ["x", ""]],
      ["GET /x{.a}", ""],
    ] as const) {
      expect(() => strict(route, { a: value })).toThrow("empty or not finite");
    }
  });

  it("texts may be empty in queries and fragments", () => {
    const options = { a: "", b: "", c: "" };
    expect(strict("GET /x{?a}{&b}{#c}", options).url).toBe("/x?a=&b=#");
    expect(strict("GET /x?a={a}", { a: "" }).url).toBe("/x?a=");
    expect(strict("GET /x", { page: undefined, q: "" }).url).toBe("/x?q=");
    expect(() => strict("GET /x?a={a}" as string)).toThrow('the variable "a" is missing');
  });
});

describe("options of createEndpoint", () => {
  it.each([
    [{ arrayFormat: "bracket" }, 'arrayFormat must be comma or repeat or brackets, got "bracket"'],
    [{ methodCase: "UPPER" }, 'methodCase must be lower or upper, got "UPPER"'],
    [{ onMissing: null }, "onMissing must be throw or empty, got null"],
    [{ baseurl: "/" }, 'createEndpoint has no option "baseurl"; it has vendor, baseUrl'],
    [{ vendor: { vendor: "x", base: "/" } }, 'vendor has no option "base"; it has vendor, baseUrl'],
    [{ vendor: null }, "the options of vendor are not an object"],
    [{ vendor: "a b" }, "vendor must be a preset, or a name"],
  ])("createEndpoint() rejects the options %j", (options, message) => {
    expect(() => createEndpoint(options as never)).toThrow(
      expect.objectContaining({
        code: "ERR_ENDPOINT_OPTION",
        message: expect.stringContaining(message),
      }),
    );
  });

  it("createEndpoint() accepts the name github for its preset", () => {
    const named = createEndpoint({ vendor: "github" });
    expect(named("GET /x/")).toStrictEqual(createEndpoint({ vendor: githubPreset })("GET /x/"));
  });
});

describe("EndpointError", () => {
  it("isFetchworkError() recognizes an EndpointError, although the package imports nothing", () => {
    const thrown = (): unknown => {
      try {
        return createEndpoint({ vendor: "" });
      } catch (error) {
        return error;
      }
    };
    expect(Reflect.get(Object(thrown()), Symbol.for("fetchwork.error"))).toBe(true);
    expect(thrown()).toBeInstanceOf(TypeError);
  });
});

describe("compile", () => {
  it("compile() returns a function that builds what endpoint() builds of the route", () => {
    const route = api.compile("GET /x/{a}");
    expect(route({ a: 1, b: 2 })).toStrictEqual(api("GET /x/{a}", { a: 1, b: 2 }));
    expect(compile("GET /x")()).toStrictEqual(endpoint("GET /x"));
  });

  it("compile() rejects a malformed route at once", () => {
    expect(() => api.compile("GET /{a")).toThrow(expect.objectContaining({ position: 1 }));
  });
});
