import { text, wrap } from "@fetchwork/http";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cleanDoubleSlashes } from "../../src/path/canonicalize-path.ts";
import { cleanPath } from "../../src/path/clean-path.ts";
import { stripSlashes } from "../../src/path/strip-slashes.ts";

const clean = wrap(({ url }) => text(url.slice("http://h".length)), cleanPath());
const strip = wrap(({ url }) => text(url.slice("http://h".length)), stripSlashes());
const both = wrap(({ url }) => text(url.slice("http://h".length)), cleanPath(), stripSlashes());
const seen = async (handler: typeof clean, path: string): Promise<string> =>
  (await handler(new Request(`http://h${path}`))).text();

describe("cleanPath", () => {
  it.each([
    // Research A8; dot segments are resolved before a middleware sees them.
    ["/users//1", "/users/1"],
    ["//users////1", "/users/1"],
    ["/users//", "/users/"],
    ["/", "/"],
    ["", "/"],
    ["//", "/"],
    ["//api//v1//users", "/api/v1/users"],
    ["/files//tmp%2Flog%20file", "/files/tmp%2Flog%20file"],
    ["/files/%2F/a", "/files/%2F/a"],
    ["/a//b?c=//d&e", "/a/b?c=//d&e"],
    ["/a?b=//c", "/a?b=//c"],
    ["/a#//", "/a#//"],
    ["//evil.example//a", "/evil.example/a"],
  ])("passes %j on as %j", async (path, cleaned) => {
    expect(await seen(clean, path)).toBe(cleaned);
  });

  it("leaves no double slash, and is its own fixed point", () => {
    const path = fc.string({ unit: fc.constantFrom("/", "a", "%2F", ".", "é") });
    fc.assert(
      fc.property(path, (path) => {
        const cleaned = cleanDoubleSlashes(path);
        expect(cleaned).not.toContain("//");
        expect(cleanDoubleSlashes(cleaned)).toBe(cleaned);
        const segments = (path: string): string[] => path.split("/").filter(Boolean);
        expect(segments(cleaned)).toEqual(segments(path));
      }),
    );
    expect(cleanDoubleSlashes("")).toBe("");
  });
});

describe("stripSlashes", () => {
  it.each([
    // Research A8.
    ["/users/", "/users"],
    ["/users//", "/users/"],
    ["/", "/"],
    ["/users", "/users"],
    ["/users/?a=/", "/users?a=/"],
    ["/users?a=/", "/users?a=/"],
    ["/users/#a/", "/users"],
  ])("passes %j on as %j", async (path, stripped) => {
    expect(await seen(strip, path)).toBe(stripped);
  });

  it.each([
    ["//api////v1//", "/api/v1"],
    ["//", "/"],
    ["///", "/"],
  ])("inside cleanPath passes %j on as %j", async (path, expected) => {
    expect(await seen(both, path)).toBe(expected);
  });

  it("with cleanPath passes on a path without empty segments, whatever was sent", async () => {
    const path = fc
      .array(fc.constantFrom("", "a", "%2F", "b.c"))
      .map((parts) => `/${parts.join("/")}`);
    await fc.assert(
      fc.asyncProperty(path, async (path) => {
        const expected = `/${path.split("/").filter(Boolean).join("/")}`;
        expect(await seen(both, path)).toBe(expected);
      }),
    );
  });
});
