import { text, wrap, type Handler, type Middleware } from "@fetchwork/http";
import { RE2JS } from "re2js";
import { describe, expect, it } from "vitest";
import { processorTime } from "../../../kit/test/processor-time.ts";
import { rewrite } from "../../src/path/rewrite.ts";

const show: Handler = ({ url, headers }) =>
  text(`${url.slice("http://h".length)} ${headers.get("x-original-url") ?? "-"}`);
const ask = async (path: string, ...middlewares: readonly Middleware[]): Promise<string> => {
  const response = await wrap(show, ...middlewares)(new Request(`http://h${path}`));
  return response.status === 200 ? response.text() : `${response.status} ${await response.text()}`;
};

describe("rewrite()", () => {
  it.each<[string, string | RegExp, string]>([
    ["an open group", "(a", "/"],
    ["a sticky pattern", /a/y, "/"],
    ["a missing group", "a", "/$1"],
    ["a missing name", "(?<a>a)", "/${b}"],
    ["a lone dollar", "a", "/$x"],
    ["a line break", "a", "/a\r\nb"],
    ["a backslash", "a", "/\\evil.example"],
    ["a fragment", "a", "/a#b"],
  ])("rewrite() refuses %s", (_, from, to) => {
    expect(() => rewrite(from, to)).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/^ERR_MIDDLEWARE_(OPTION|PATTERN)$/) }),
    );
  });

  it.each<[string | RegExp, string, string, string]>([
    // Research A8, and the example of the specification.
    [
      "^/sites/(.*)/settings/$",
      "/sites/settings/$1",
      "/sites/a/settings/",
      "/sites/settings/a /sites/a/settings/",
    ],
    ["/api/v1/(.*)", "/xyzzz/$1?foo=bar", "/api/v1/params", "/xyzzz/params?foo=bar /api/v1/params"],
    [
      "/api/v1/(.*)",
      "/xyzzz/abc/../$1?foo=bar",
      "/api/v1/params",
      "/xyzzz/params?foo=bar /api/v1/params",
    ],
    ["/api/v1/(.*)/", "/xyzzz/abc/../$1/", "/api/v1/params/", "/xyzzz/params/ /api/v1/params/"],
    ["/api/v1/(.*)", "/xyzzz/$1", "/other/path", "/other/path -"],
    // The query stays unless the replacement has one; ours are not cleaned.
    ["/api/(.*)", "/x/$1", "/api/a?b=../c", "/x/a?b=../c /api/a?b=../c"],
    ["/api/(.*)", "/x?p=a//b/../$1", "/api/a?b=c", "/x?p=a//b/../a /api/a?b=c"],
    // Traps: $1x, a replacement of "/", and a path that would look like another host.
    ["/a/(.*)", "/$1x", "/a/b", "/bx /a/b"],
    ["/a/(.*)", "/${1}0", "/a/b", "/b0 /a/b"],
    ["/a/(b)", "/$12", "/a/b", "/b2 /a/b"],
    ["/a/(?<name>.*)", "/${name}/$<name>/$&/$$", "/a/b", "/b/b/a/b/$ /a/b"],
    ["/a(.*)", "/", "/a/b", "/ /a/b"],
    ["/a/(.*)", "$1", "/a//evil.example", "/evil.example /a//evil.example"],
    ["/a/(.*)", "//$1", "/a/evil.example", "/evil.example /a/evil.example"],
    // Every match, anywhere, in the canonical path.
    ["v1", "v2", "/v1/x/v1", "/v2/x/v2 /v1/x/v1"],
    ["x*", "-", "/axb", "/-/-a-b- /axb"],
    [/^\/ADMIN/i, "/hidden", "/%61dmin/x", "/hidden/x /%61dmin/x"],
    // A path brings no parameters into the query.
    ["/u/(.*)", "/x?id=$1&a=b", "/u/1&admin=1+;", "/x?id=1%26admin%3D1%2B%3B&a=b /u/1&admin=1+;"],
    ["/u/(.*)", "/$1", "/u/%2e%2e%2fx", "/..%2Fx /u/%2e%2e%2fx"],
  ])("rewrite() with %s → %s passes %s on as %s", async (from, to, path, seen) => {
    expect(await ask(path, rewrite(from, to))).toBe(seen);
  });

  it("rewrite() rewrites once, also in chains", async () => {
    const chain = [rewrite("/api/(.*)", "/first/$1"), rewrite("/first/(.*)", "/second/$1")];
    expect(await ask("/api/params", ...chain)).toBe("/first/params /api/params");
    expect(await ask("/first/params", ...chain)).toBe("/second/params /first/params");
  });

  it("rewrite() keeps headers, method and body", async () => {
    const handler: Handler = async (request) =>
      text(`${request.method} ${request.headers.get("a") ?? ""} ${await request.text()}`);
    const init = { method: "PUT", headers: { a: "b" }, body: "body" };
    const response = await wrap(handler, rewrite("/a", "/b"))(new Request("http://h/a", init));
    expect(await response.text()).toBe("PUT b body");
  });

  it.each([
    ["an ambiguous path", "/a%00", "400 Bad Request\n"],
    ["a malformed escape", "/a%zz", "400 Bad Request\n"],
    ["a path that is too long", `/${"a".repeat(8192)}`, "414 URI Too Long\n"],
  ])("rewrite() responds to %s (%s) with %s", async (_, path, response) => {
    expect(await ask(path, rewrite("b", "c"))).toBe(response);
  });

  describe("with a pattern of re2js", () => {
    it.each([
      ["^/sites/(.*)/settings/$", "/sites/settings/$1", "/sites/a/settings/", "/sites/settings/a"],
      ["/a/(?<name>.*)", "/${name}/$&?id=$<name>", "/a/b=", "/b=/a/b=?id=b%3D"],
      ["/a/(b)", "/$12", "/a/b", "/b2"],
      ["x*", "-", "/axb", "/-/-a-b-"],
    ])("rewrite() with %s → %s passes %s on as %s", async (from, to, path, seen) => {
      expect(await ask(path, rewrite(RE2JS.compile(from), to))).toBe(`${seen} ${path}`);
    });

    it("rewrite() takes an empty text for a group that the pattern does not have", async () => {
      expect(await ask("/a", rewrite(RE2JS.compile("/a"), "/b$2"))).toBe("/b /a");
    });

    it.each([["(a+)+$"], ["(a|a)*b"], ["(.*)(.*)(.*)(.*)x"], ["(x+x+)+y"], ["([^/]*/)*c"]])(
      "rewrite() matches %s in linear time, or this would take minutes",
      async (source) => {
        const middleware = rewrite(RE2JS.compile(source), "/b");
        const begun = processorTime();
        for (const piece of ["a", "x", "/", "a/"]) {
          await ask(`/${piece.repeat(8_190 / piece.length)}!`, middleware);
        }
        expect(processorTime(begun)).toBeLessThan(4_000);
      },
    );
  });
});
