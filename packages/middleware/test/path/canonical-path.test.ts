import { text, wrap } from "@fetchwork/http";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalizePath, canonicalPath } from "../../src/path/canonical-path.ts";

describe("canonicalizePath", () => {
  it.each(["/%", "/%zz", "/a%4", "/%00", "/a%5Cb", "/a%5cb", "/a\\b"])("refuses %j", (path) => {
    expect(canonicalizePath(path)).toBeUndefined();
  });

  it.each([
    ["/", "/"],
    ["/%61dmin", "/admin"],
    ["/a%2fb", "/a%2Fb"],
    ["/a%2Fb", "/a%2Fb"],
    ["/%7euser/%C3%a9", "/~user/%C3%A9"],
    ["/a/%2e%2e/b", "/b"],
    ["/a/.%2E/%2e/b", "/b"],
    ["/../../a", "/a"],
    ["/a/..", "/"],
    ["/a/b/.", "/a/b/"],
    ["/a//b", "/a//b"],
    ["/.well-known/x", "/.well-known/x"],
    ["/%252e%252e/a", "/%252e%252e/a"],
  ])("returns %j as %j", (path, canonical) => {
    expect(canonicalizePath(path)).toBe(canonical);
  });

  it("is its own fixed point, and decodes to the same text", () => {
    const piece = fc.constantFrom("/", "a", ".", "..", "%2e", "%2E", "%2F", "%61", "%C3%A9", "%41");
    const path = fc.array(piece).map((pieces) => `/${pieces.join("")}`);
    fc.assert(
      fc.property(path, (path) => {
        const canonical = canonicalizePath(path) ?? "";
        expect(canonicalizePath(canonical)).toBe(canonical);
        expect(canonical).not.toMatch(/\/\.{1,2}(\/|$)/);
        expect(canonical).not.toMatch(/%[a-f\d]?[a-f]|%61|%41|%2E/);
        // WHATWG's parser resolves dots in the same way.
        expect(new URL(`http://h${canonical}`).pathname).toBe(canonical);
        expect(canonicalizePath(new URL(`http://h${path}`).pathname)).toBe(canonical);
      }),
    );
  });
});

describe("canonicalPath", () => {
  const handler = wrap((request) => text(request.url), canonicalPath());
  const ask = async (url: string): Promise<string> => {
    const response = await handler(new Request(url));
    return `${response.status} ${await response.text()}`;
  };

  it.each([
    ["http://h/%zz", "400 Bad Request\n"],
    ["http://h/a%00", "400 Bad Request\n"],
    ["http://h/%61dmin?q=%61", "200 http://h/admin?q=%61"],
    ["http://h/admin?q=%zz", "200 http://h/admin?q=%zz"],
    ["http://h//%61/?", "200 http://h//a/?"],
    ["http://h/a#%61", "200 http://h/a#%61"],
  ])("responds to %s with %j", async (url, expected) => {
    expect(await ask(url)).toBe(expected);
  });
});
