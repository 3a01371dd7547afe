import { text, wrap, type Handler, type Middleware } from "@fetchwork/http";
import { describe, expect, it, vi } from "vitest";
import { LinearPattern } from "../../src/path/linear-pattern.ts";
import { rewrite } from "../../src/path/rewrite.ts";

const show: Handler = ({ url, headers }) =>
  text(`${url.slice("http://h".length)} ${headers.get("x-original-url") ?? "-"}`);
const ask = async (path: string, ...middlewares: readonly Middleware[]): Promise<string> => {
  const response = await wrap(show, ...middlewares)(new Request(`http://h${path}`));
  return response.status === 200 ? response.text() : `${response.status} ${await response.text()}`;
};

describe("rewrite", () => {
  it.each<[string, string | RegExp, string]>([
    ["a flag that changes the syntax", /a/u, "/"],
    ["a sticky pattern", /a/y, "/"],
    ["a group that is none", "a", "/$1"],
    ["a name that is none", "(?<a>a)", "/${b}"],
    ["a lone dollar", "a", "/$x"],
    ["a line break", "a", "/a\r\nb"],
    ["a backslash", "a", "/\\evil.example"],
    ["a fragment", "a", "/a#b"],
  ])("refuses %s", (_, from, to) => {
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
  ])("with %s → %s hands %s on as %s", async (from, to, path, seen) => {
    expect(await ask(path, rewrite(from, to))).toBe(seen);
  });

  it("rewrites once, also in chains", async () => {
    const chain = [rewrite("/api/(.*)", "/first/$1"), rewrite("/first/(.*)", "/second/$1")];
    expect(await ask("/api/params", ...chain)).toBe("/first/params /api/params");
    expect(await ask("/first/params", ...chain)).toBe("/second/params /first/params");
  });

  it("leaves headers, method and body alone", async () => {
    const handler: Handler = async (request) =>
      text(`${request.method} ${request.headers.get("a") ?? ""} ${await request.text()}`);
    const init = { method: "PUT", headers: { a: "b" }, body: "body" };
    const response = await wrap(handler, rewrite("/a", "/b"))(new Request("http://h/a", init));
    expect(await response.text()).toBe("PUT b body");
  });

  it.each([
    ["a path without a safe meaning", "/a%00", "400 Bad Request\n"],
    ["a malformed escape", "/a%zz", "400 Bad Request\n"],
    ["a path that is too long", `/${"a".repeat(8192)}`, "414 URI Too Long\n"],
  ])("answers %s with %4$s", async (_, path, answer) => {
    expect(await ask(path, rewrite("b", "c"))).toBe(answer);
  });

  it.each([
    ["(a+)+$"],
    ["(a|a)*b"],
    ["(.*)(.*)(.*)(.*)x"],
    ["^/(.*)/(.*)/(.*)/(.*)/x$"],
    ["(x+x+)+y"],
    ["a(.*b)?"],
    ["(a?){60}a{60}"],
    ["([^/]*/)*c"],
    ["x*"],
  ])("gives up or is done with %s after 300,000 steps, on any long path", async (source) => {
    const find = vi.spyOn(LinearPattern.prototype, "find");
    const handler = wrap(show, rewrite(source, "/$&$&$&$&"));
    const statusOf = async (piece: string, length: number): Promise<number> =>
      (await handler(new Request(`http://h/${piece.repeat(length / piece.length)}`))).status;
    for (const piece of ["a", "x", "/", "a/", "/x", "ab"]) {
      expect(await statusOf(piece, 65_536)).toBe(414);
      expect(find).not.toHaveBeenCalled();
      const status = await statusOf(piece, 8_191);
      const steps = find.mock.lastCall?.[2].steps ?? 0;
      // It is asked after each character, of which none takes more than all threads of the pattern.
      expect(steps).toBeGreaterThan(-2_000);
      if (steps < 0) expect(status).toBe(414);
      find.mockClear();
    }
    find.mockRestore();
  });
});
