import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bypassList, proxyFromEnvironment, proxyUrl } from "../../src/node/client/proxy-choice.ts";

function url(text: string): URL {
  return new URL(text);
}

describe("bypassList", () => {
  it.each([
    ["", "http://example.com/", false],
    ["example.com", "http://example.com/", true],
    ["example.com", "http://EXAMPLE.com./", true],
    ["EXAMPLE.com.", "http://example.com/", true],
    ["example.com", "http://api.example.com/", true],
    ["example.com", "http://notexample.com/", false],
    ["example.com", "http://example.com.evil/", false],
    [".example.com", "http://example.com/", true],
    [".example.com", "http://api.example.com/", true],
    ["*.example.com", "http://api.example.com/", true],
    ["*.example.com", "http://example.com/", false],
    ["*.example.com", "http://notexample.com/", false],
    ["*", "http://anything/", true],
    ["one, *", "https://anything/", true],
    ["a.example b.example", "http://b.example/", true],
    ["a.example,\tb.example", "http://b.example/", true],
    ["example.com:8080", "http://example.com:8080/", true],
    ["example.com:8080", "http://example.com/", false],
    ["example.com:443", "https://example.com/", true],
    ["example.com:80", "http://example.com/", true],
    ["*:8080", "http://x.example:8080/", true],
    ["10.0.0.0/8", "http://10.200.1.1/", true],
    ["10.0.0.0/8", "http://11.0.0.1/", false],
    ["10.0.0.0/8", "http://10.example/", false],
    ["10.0.0.0/0", "http://11.0.0.1/", true],
    ["10.0.0.0/33", "http://10.0.0.1/", false],
    ["10.0.0.0/", "http://10.0.0.0/", false],
    ["10.0.0.0/x", "http://10.0.0.0/", false],
    ["192.168.1.7", "http://192.168.1.7/", true],
    ["192.168.1.7", "http://192.168.1.70/", false],
    ["192.168.1.7:81", "http://192.168.1.7:81/", true],
    ["192.168.1.7:81", "http://192.168.1.7/", false],
    ["::1", "http://[::1]/", true],
    ["0:0::1", "http://[::1]/", true],
    ["[::1]", "http://[::1]:8080/", true],
    ["[::1]:80", "http://[::1]/", true],
    ["[::1]:81", "http://[::1]/", false],
    ["fd00::/8", "http://[fd12::1]/", true],
    ["fd00::/8", "http://[fe80::1]/", false],
  ])("%j and %s: %s", (list, target, bypassed) => {
    expect(bypassList(list)(url(target))).toBe(bypassed);
  });

  it("takes any text, and any name it holds covers itself and no sibling", () => {
    const label = fc.stringMatching(/^[a-z]{1,8}$/);
    fc.assert(
      fc.property(fc.string(), label, label, (noise, name, other) => {
        expect(() => bypassList(noise)(url("http://example.com/"))).not.toThrow();
        const bypasses = bypassList(`${name}.test`);
        expect(bypasses(url(`http://${name}.test/`))).toBe(true);
        expect(bypasses(url(`http://${other}.${name}.test/`))).toBe(true);
        expect(bypasses(url(`http://${other}${name}.test/`))).toBe(false);
      }),
    );
  });
});

describe("proxyFromEnvironment", () => {
  it("reads lower case before upper case", () => {
    const choice = proxyFromEnvironment({
      http_proxy: "http://one:3128",
      HTTP_PROXY: "http://two:3128",
      HTTPS_PROXY: "three:8080",
      NO_PROXY: "direct.example",
    });
    expect(choice.http?.host).toBe("one:3128");
    expect(choice.https?.href).toBe("http://three:8080/");
    expect(choice.bypasses(url("https://direct.example/"))).toBe(true);
    expect(choice.bypasses(url("https://other.example/"))).toBe(false);
  });

  it("has none for https: when only http_proxy is set", () => {
    expect(proxyFromEnvironment({ http_proxy: "http://one:3128" }).https).toBeUndefined();
  });

  it("takes an empty variable for one that is not set", () => {
    const { http } = proxyFromEnvironment({ http_proxy: "", HTTP_PROXY: "http://two:3128" });
    expect(http?.host).toBe("two:3128");
  });

  it("ignores HTTP_PROXY under CGI, where a client may set it, but not http_proxy", () => {
    const cgi = { REQUEST_METHOD: "GET", HTTP_PROXY: "http://evil:1" };
    expect(proxyFromEnvironment(cgi).http).toBeUndefined();
    expect(proxyFromEnvironment({ ...cgi, http_proxy: "http://one:1" }).http?.host).toBe("one:1");
  });

  it.each(["localhost", "app.localhost", "127.0.0.1", "127.1", "[::1]"])(
    "reaches %s directly",
    (host) => {
      const { bypasses } = proxyFromEnvironment({ http_proxy: "http://one:3128" });
      expect(bypasses(url(`http://${host}:8080/`))).toBe(true);
      expect(bypasses(url("http://127.example/"))).toBe(false);
    },
  );

  it.each(["socks5://user:secret@one:1080", "http://", "ftp://secret@one", "://secret"])(
    "refuses %j without showing it",
    (text) => {
      expect(() => proxyFromEnvironment({ https_proxy: text })).toThrow(
        expect.objectContaining({
          code: "ERR_HTTP_OPTION",
          message: expect.not.stringContaining("secret") as string,
        }),
      );
    },
  );
});

describe("proxyUrl", () => {
  it.each([
    ["proxy:3128", "http://proxy:3128/"],
    ["user:pw@proxy:3128", "http://user:pw@proxy:3128/"],
    ["https://proxy", "https://proxy/"],
  ])("reads %s as %s", (text, read) => {
    expect(proxyUrl(text, "proxy").href).toBe(read);
  });
});
