import { createContext, text, wrap } from "@fetchwork/http";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ipMatcher } from "../../src/address/ip-matcher.ts";
import { onlyFrom } from "../../src/access/only-from.ts";
import { realIp } from "../../src/address/real-ip.ts";
import type { Middleware } from "@fetchwork/http";

async function ask(
  middleware: Middleware | readonly Middleware[],
  peer: string,
  headers: Record<string, string> = {},
): Promise<[number, string | null, string]> {
  const request = new Request("http://localhost/", { headers });
  const handler = wrap(() => text("next"), ...[middleware].flat());
  const response = await handler(request, createContext(request, { peer }));
  return [response.status, response.headers.get("content-type"), await response.text()];
}

const json = "application/json; charset=utf-8";

describe("ipMatcher", () => {
  it.each([
    [""],
    ["bad-rule"],
    ["bad"],
    ["fe80"],
    ["1.2.3.4/33"],
    ["256."],
    ["01.2."],
    ["1.2.3.4.5"],
    ["2001:0db8:"],
    ["1.2.3.0/24/"],
    ["::1%lo"],
    [" 1.2.3.4"],
  ])("refuses the rule %j", (rule) => {
    expect(() => ipMatcher([rule])).toThrow(
      expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }),
    );
  });

  // Research A5.
  it.each([
    [["1.2.3.4"], "1.2.3.4", true],
    [["1.2.3.4"], "1.2.3.45", false],
    [["1.2.3."], "1.2.3.45", true],
    [["1.2.3.0/24"], "1.2.3.45", true],
    [["2001:db8:0:0::1"], "2001:db8::1", true],
    [["2001:db8::1"], "2001:db8::10", false],
    [["2001:db8:"], "2001:db8::10", true],
    [["2001:DB8:"], "2001:0db8:0::10", true],
    [["2001:db9:"], "2001:db8::10", false],
    [["2001:db8::/32"], "2001:db8::10", true],
    [["2001:db9::/32"], "2001:db8::10", false],
    [["1.2.3.4", "5.6."], "5.6.7.8", true],
    [["1.2.3.4", "5.6."], "5.60.7.8", false],
    [["1.2.3.4"], "::ffff:1.2.3.4", true],
    [["1.2.3."], "::ffff:1.2.3.4", true],
    [["::ffff:1.2.3.4"], "1.2.3.4", true],
    [["10."], "010.0.0.1", false],
    [["1.2.3"], "1.2.30.4", true],
    [[], "1.2.3.4", false],
    [["0.0.0.0/0", "::/0"], "not-an-ip", false],
  ])("%j, %s: %s", (rules, address, expected) => {
    expect(ipMatcher(rules)(address)).toBe(expected);
  });

  it("matches an address by itself and by each of its prefixes", () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.integer({ min: 1, max: 3 }), (address, count) => {
        const start = `${address.split(".").slice(0, count).join(".")}.`;
        expect(ipMatcher([address])(address)).toBe(true);
        expect(ipMatcher([start])(address)).toBe(true);
      }),
    );
  });
});

describe("onlyFrom", () => {
  it("refuses an address that is not listed", async () => {
    expect(await ask(onlyFrom("5.6.7.8"), "1.2.3.4")).toEqual([
      403,
      json,
      '{"error":"ip \\"1.2.3.4\\" rejected"}\n',
    ]);
  });

  it("responds with 500 without an address", async () => {
    expect(await ask(onlyFrom("1.2.3.4"), "bad-addr")).toEqual([
      500,
      json,
      '{"error":"can\'t get realip: no valid ip found"}\n',
    ]);
  });

  it("lets a listed address pass", async () => {
    expect((await ask(onlyFrom("1.2.3.4", "10."), "10.1.1.1"))[2]).toBe("next");
  });

  it("lets all requests pass without rules", async () => {
    expect((await ask(onlyFrom(), "bad-addr"))[2]).toBe("next");
  });

  it("trusts headers as the specification requires", async () => {
    expect((await ask(onlyFrom("8.8.8.8"), "1.2.3.4", { "x-real-ip": "8.8.8.8" }))[2]).toBe("next");
  });

  it("ignores the headers of a stranger when the proxies are known", async () => {
    const middleware = onlyFrom({ addresses: ["8.8.8.8"], trustedProxies: ["127.0.0.1"] });
    const headers = { "x-real-ip": "8.8.8.8", "x-forwarded-for": "8.8.8.8" };
    expect((await ask(middleware, "1.2.3.4", headers))[0]).toBe(403);
    expect((await ask(middleware, "127.0.0.1", headers))[2]).toBe("next");
  });

  it("uses the address that realIp found", async () => {
    const middlewares = [realIp({ trustedProxies: ["127.0.0.1"] }), onlyFrom("8.8.8.8")];
    const headers = { "x-real-ip": "8.8.8.8" };
    expect((await ask(middlewares, "1.2.3.4", headers))[0]).toBe(403);
    expect((await ask(middlewares, "127.0.0.1", headers))[2]).toBe("next");
    expect((await ask(middlewares, "bad-addr", headers))[0]).toBe(500);
  });

  it("prefers its own options to what realIp found", async () => {
    const headers = { "x-real-ip": "8.8.8.8", "cf-connecting-ip": "9.9.9.9" };
    const addresses = ["8.8.8.8"];
    const trusting = [realIp(), onlyFrom({ addresses, trustedProxies: ["127.0.0.1"] })];
    expect((await ask(trusting, "1.2.3.4", headers))[0]).toBe(403);
    expect((await ask(trusting, "127.0.0.1", headers))[2]).toBe("next");
    const reading = [realIp(), onlyFrom({ addresses, headers: ["cf-connecting-ip"] })];
    expect((await ask(reading, "1.2.3.4", headers))[0]).toBe(403);
  });

  it("refuses invalid rules when it is made", () => {
    expect(() => onlyFrom("")).toThrow(expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }));
    expect(() => onlyFrom({ addresses: JSON.parse('"1.2.3.4"') })).toThrow(
      expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }),
    );
  });
});
