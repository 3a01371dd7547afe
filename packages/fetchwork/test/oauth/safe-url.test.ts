import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSafeUrl, safeUrl } from "../../src/oauth/safe-url.ts";
import { CommandUsageError } from "../../src/command/usage-error.ts";

describe("safeUrl()", () => {
  it.each([
    ["https://api.example/", true],
    ["https://127.0.0.1:1/", true],
    ["http://127.0.0.1/", true],
    ["http://127.1/", true],
    ["http://0x7f.1/", true],
    ["http://127.255.255.254:8080/", true],
    ["http://[::1]/", true],
    ["http://localhost:3000/", true],
    ["http://app.localhost/", true],
    ["http://localhost./", false],
    ["http://127.0.0.1.example/", false],
    ["http://localhost.example/", false],
    ["http://a.b.localhost/", true],
    ["http://128.0.0.1/", false],
    ["http://0.0.0.0/", false],
    ["http://[::]/", false],
    ["http://[::ffff:127.0.0.1]/", false],
    ["http://10.0.0.1/", false],
    ["ws://127.0.0.1/", false],
    ["file:///etc/passwd", false],
    ["data:text/plain,x", false],
  ])("%s: %s", (url, isSafe) => {
    expect(isSafeUrl(new URL(url))).toBe(isSafe);
  });

  it("safeUrl() rejects another machine without https, however the URL is written", () => {
    fc.assert(
      fc.property(fc.webUrl({ validSchemes: ["http", "ftp", "ws", "wss"] }), (url) => {
        expect(isSafeUrl(new URL(url))).toBe(false);
      }),
    );
    fc.assert(
      fc.property(fc.ipV4Extended(), (address) => {
        const { hostname } = new URL(`http://${address}/`);
        expect(isSafeUrl(new URL(`http://${address}/`))).toBe(hostname.startsWith("127."));
      }),
    );
  });

  it("safeUrl() throws nothing but CommandUsageError for any text", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.webUrl({ withFragments: true })), (text) => {
        try {
          expect(isSafeUrl(safeUrl("--issuer", text))).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(CommandUsageError);
        }
      }),
    );
  });
});
