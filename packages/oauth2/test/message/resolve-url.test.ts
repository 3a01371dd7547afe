import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OAuth2Client } from "../../src/index.ts";

function resolve(site: string, path: string | URL): string {
  return new OAuth2Client("id", "secret", { site }).resolve(path).href;
}

describe("createResolver", () => {
  it("resolves any path as the platform does, or refuses it", () => {
    const part = fc.constantFrom(
      "/",
      "//",
      ".",
      "..",
      "?",
      "#",
      "%2f",
      "@",
      ":",
      " ",
      "a",
      "é",
      "",
    );
    const path = fc.array(part, { maxLength: 8 }).map((parts) => `/${parts.join("")}`);
    fc.assert(
      fc.property(path, (given) => {
        const expected = new URL("https://example.com/base/");
        if (given.trim().startsWith("//")) {
          expect(() => resolve(expected.href, given)).toThrow("names another host");
          return;
        }
        const found = new URL(given, expected);
        found.hash = "";
        expect(resolve(expected.href, given)).toBe(found.href);
      }),
    );
  });

  it.each([
    ["https://example.com", "/a", "https://example.com/a"],
    ["https://example.com/base", "/a", "https://example.com/a"],
    ["https://example.com/base", "a", "https://example.com/base/a"],
    ["https://example.com/base/", "a", "https://example.com/base/a"],
    ["https://example.com/base", "", "https://example.com/base"],
    ["https://example.com/base", "../a", "https://example.com/a"],
    ["https://example.com/base", "/../../a", "https://example.com/a"],
    ["https://example.com/base?x=1", "/a?y=2", "https://example.com/a?x=1&y=2"],
    ["https://example.com/base?x=1", "/a", "https://example.com/a?x=1"],
    ["https://example.com", "/a#", "https://example.com/a"],
    ["https://example.com", "/a?y=2#b", "https://example.com/a?y=2"],
    ["https://example.com:8443", "/:1@host", "https://example.com:8443/:1@host"],
    ["https://example.com", " /a ", "https://example.com/a"],
    ["https://example.com", "https://other.com/a#", "https://other.com/a"],
  ])("resolves on %s the path %j to %s", (site, path, url) => {
    expect(resolve(site, path)).toBe(url);
  });

  it("leaves the URL of the caller as it is", () => {
    const url = new URL("https://other.com/a#b");
    expect(resolve("https://example.com", url)).toBe("https://other.com/a");
    expect(url.href).toBe("https://other.com/a#b");
  });
});
