import { createContext, text, wrap } from "@fetchwork/http";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { getRealIP, realIp, type RealIPOptions } from "../../src/address/real-ip.ts";

type Headers = Record<string, string>;

function find(
  headers: Headers,
  peer: string | undefined,
  options?: RealIPOptions,
): string | undefined {
  return getRealIP(new Request("http://localhost/", { headers }), { peer }, options);
}

async function seen(headers: Headers, peer: string, options?: RealIPOptions): Promise<string> {
  const request = new Request("http://localhost/", { headers });
  const handler = wrap((_, context) => text(context.ip ?? "none"), realIp(options));
  return await (await handler(request, createContext(request, { peer }))).text();
}

const peer = "1.2.3.4:1234";

describe("getRealIP in the specification's order", () => {
  // Research A4.
  it.each<[string, Headers, string | undefined, string | undefined]>([
    ["X-Real-IP, trimmed", { "x-real-ip": "  8.8.8.8  " }, peer, "8.8.8.8"],
    ["private X-Real-IP", { "x-real-ip": "10.0.0.1" }, peer, "1.2.3.4"],
    ["private X-Real-IP, 192.168", { "x-real-ip": "192.168.1.1" }, peer, "1.2.3.4"],
    ["private X-Real-IP, 172.16", { "x-real-ip": "172.16.0.1" }, peer, "1.2.3.4"],
    ["loopback X-Real-IP", { "x-real-ip": "127.0.0.1" }, peer, "1.2.3.4"],
    ["IPv6 loopback X-Real-IP", { "x-real-ip": "::1" }, peer, "1.2.3.4"],
    ["link-local X-Real-IP", { "x-real-ip": "fe80::1" }, peer, "1.2.3.4"],
    ["IPv4 link-local X-Real-IP", { "x-real-ip": "169.254.1.1" }, peer, "1.2.3.4"],
    ["IPv6 X-Real-IP", { "x-real-ip": "2001:db8::1" }, peer, "2001:db8::1"],
    ["IPv6 as it is spelled", { "x-real-ip": "2001:DB8:0::1" }, peer, "2001:DB8:0::1"],
    ["no address in X-Real-IP", { "x-real-ip": "not-an-ip" }, peer, "1.2.3.4"],
    ["X-Forwarded-For", { "x-forwarded-for": "8.8.8.8, 1.1.1.1, 30.30.30.1" }, peer, "8.8.8.8"],
    ["private first", { "x-forwarded-for": "192.168.1.1, 10.0.0.1, 8.8.8.8" }, peer, "8.8.8.8"],
    ["private second", { "x-forwarded-for": "8.8.8.8, 10.0.0.1" }, peer, "8.8.8.8"],
    ["all private", { "x-forwarded-for": "192.168.1.1, 10.0.0.1" }, peer, "1.2.3.4"],
    ["IPv6 list", { "x-forwarded-for": "::1, fc00::1, 2001:db8::1" }, peer, "2001:db8::1"],
    ["garbage", { "x-forwarded-for": "not-an-ip, 8.8.8.8, garbage" }, peer, "8.8.8.8"],
    ["one entry", { "x-forwarded-for": "30.30.30.1" }, peer, "30.30.30.1"],
    ["empty entries", { "x-forwarded-for": " , ,8.8.8.8" }, peer, "8.8.8.8"],
    ["CF-Connecting-IP", { "cf-connecting-ip": "8.8.4.4" }, peer, "8.8.4.4"],
    [
      "X-Real-IP before the others",
      { "x-real-ip": "8.8.8.8", "cf-connecting-ip": "1.1.1.1", "x-forwarded-for": "9.9.9.9" },
      peer,
      "8.8.8.8",
    ],
    [
      "CF-Connecting-IP before X-Forwarded-For",
      { "cf-connecting-ip": "1.1.1.1", "x-forwarded-for": "9.9.9.9" },
      peer,
      "1.1.1.1",
    ],
    [
      "private X-Real-IP, public CF-Connecting-IP",
      { "x-real-ip": "10.0.0.1", "cf-connecting-ip": "1.1.1.1" },
      peer,
      "1.1.1.1",
    ],
    [
      "private both, public X-Forwarded-For",
      { "x-real-ip": "10.0.0.1", "cf-connecting-ip": "10.0.0.2", "x-forwarded-for": "9.9.9.9" },
      peer,
      "9.9.9.9",
    ],
    ["connection with a port", {}, "192.0.2.1:1234", "192.0.2.1"],
    ["connection without a port", {}, "127.0.0.1", "127.0.0.1"],
    ["IPv6 connection with a port", {}, "[2001:db8::1]:1234", "2001:db8::1"],
    ["IPv6 connection", {}, "::1", "::1"],
    ["IPv6 connection with a zone", {}, "fe80::A%eth0", "fe80::A"],
    ["mapped connection with a port", {}, "[::ffff:192.0.2.1]:80", "192.0.2.1"],
    ["no address of the connection", {}, "invalid-ip", undefined],
    ["empty address of the connection", {}, "", undefined],
    ["no connection", {}, undefined, undefined],
    ["private X-Real-IP and no connection", { "x-real-ip": "10.0.0.1" }, "invalid-ip", undefined],
    ["X-Real-IP and no connection", { "x-real-ip": "8.8.8.8" }, "invalid-ip", "8.8.8.8"],
    // Ours: strict and folded.
    ["octal", { "x-real-ip": "010.8.8.8" }, peer, "1.2.3.4"],
    ["short", { "x-real-ip": "8.8.8" }, peer, "1.2.3.4"],
    ["hexadecimal", { "x-real-ip": "0x8.8" }, peer, "1.2.3.4"],
    ["zone in a header", { "x-real-ip": "2001:db8::1%eth0" }, peer, "1.2.3.4"],
    ["mapped private", { "x-real-ip": "::ffff:10.0.0.1" }, peer, "1.2.3.4"],
    ["mapped public", { "x-real-ip": "::ffff:8.8.8.8" }, peer, "8.8.8.8"],
    ["mapped connection", {}, "::ffff:127.0.0.1", "127.0.0.1"],
    ["zone of the connection", {}, "fe80::1%eth0", "fe80::1"],
    ["two X-Real-IP", { "x-real-ip": "8.8.8.8, 9.9.9.9" }, peer, "1.2.3.4"],
    ["port in X-Forwarded-For", { "x-forwarded-for": "8.8.8.8:80, 9.9.9.9" }, peer, "9.9.9.9"],
  ])("%s", (_, headers, connection, expected) => {
    expect(find(headers, connection)).toBe(expected);
  });

  it("reads Forwarded when it is listed", () => {
    const options: RealIPOptions = { headers: ["forwarded"] };
    const forwarded = 'for=10.0.0.1, For="[2001:db8::1]:4711";proto=https, for=8.8.8.8';
    expect(find({ forwarded, "x-real-ip": "9.9.9.9" }, peer, options)).toBe("2001:db8::1");
    expect(find({ forwarded: `${forwarded}, broken` }, peer, options)).toBe("1.2.3.4");
  });
});

describe("getRealIP with trusted proxies", () => {
  const options: RealIPOptions = { trustedProxies: ["10.0.0.0/8", "2001:db8::1", "127.0.0.1"] };
  const proxy = "10.0.0.1";

  it.each<[string, Headers, string | undefined, string | undefined]>([
    [
      "a stranger's headers",
      { "x-real-ip": "8.8.8.8", "x-forwarded-for": "9.9.9.9" },
      peer,
      "1.2.3.4",
    ],
    [
      "the nearest address that is not ours",
      { "x-forwarded-for": "6.6.6.6, 9.9.9.9" },
      proxy,
      "9.9.9.9",
    ],
    [
      "our proxies at the end",
      { "x-forwarded-for": "6.6.6.6, 9.9.9.9, 10.1.1.1" },
      proxy,
      "9.9.9.9",
    ],
    ["a private client", { "x-forwarded-for": "6.6.6.6, 192.168.0.9" }, proxy, "192.168.0.9"],
    ["only our proxies", { "x-forwarded-for": "10.3.3.3, 10.2.2.2" }, proxy, "10.3.3.3"],
    ["garbage behind a proxy", { "x-forwarded-for": "9.9.9.9, junk, 10.2.2.2" }, proxy, "10.2.2.2"],
    ["garbage at the end", { "x-forwarded-for": "9.9.9.9, junk" }, proxy, "10.0.0.1"],
    ["octal at the end", { "x-forwarded-for": "9.9.9.9, 010.0.0.1" }, proxy, "10.0.0.1"],
    ["an IPv4 client with a port", { "x-forwarded-for": "6.6.6.6, 9.9.9.9:81" }, proxy, "9.9.9.9"],
    ["an IPv6 client with a port", { "x-forwarded-for": "[2001:db8::9]:81" }, proxy, "2001:db8::9"],
    ["a mapped client in brackets", { "x-forwarded-for": "[::ffff:9.9.9.9]" }, proxy, "9.9.9.9"],
    ["a client with a zone", { "x-forwarded-for": "9.9.9.9, fe80::9%eth0" }, proxy, "10.0.0.1"],
    [
      "no other header where the list's nearest entry is garbage",
      { "x-forwarded-for": "9.9.9.9, junk", "x-real-ip": "6.6.6.6", "cf-connecting-ip": "6.6.6.6" },
      proxy,
      "10.0.0.1",
    ],
    [
      "no other header where the list is empty",
      { "x-forwarded-for": "", "x-real-ip": "6.6.6.6" },
      proxy,
      "10.0.0.1",
    ],
    ["X-Real-IP", { "x-real-ip": "9.9.9.9" }, proxy, "9.9.9.9"],
    ["X-Real-IP that is a proxy", { "x-real-ip": "10.2.2.2" }, proxy, "10.0.0.1"],
    ["CF-Connecting-IP", { "cf-connecting-ip": "9.9.9.9" }, proxy, "9.9.9.9"],
    [
      "X-Forwarded-For before X-Real-IP",
      { "x-real-ip": "6.6.6.6", "x-forwarded-for": "9.9.9.9" },
      proxy,
      "9.9.9.9",
    ],
    ["no header", {}, proxy, "10.0.0.1"],
    ["mapped proxy", { "x-forwarded-for": "9.9.9.9" }, "::ffff:10.0.0.1", "9.9.9.9"],
    ["IPv6 proxy", { "x-forwarded-for": "9.9.9.9" }, "2001:db8::1", "9.9.9.9"],
    ["no connection", { "x-forwarded-for": "9.9.9.9" }, undefined, undefined],
  ])("%s", (_, headers, connection, expected) => {
    expect(find(headers, connection, options)).toBe(expected);
  });

  it("reads only the listed headers, in their order", () => {
    const headers = { "x-real-ip": "6.6.6.6", forwarded: "for=7.7.7.7, for=9.9.9.9" };
    expect(find(headers, proxy, { ...options, headers: ["forwarded"] })).toBe("9.9.9.9");
    expect(find(headers, proxy, { ...options, headers: ["x-real-ip", "forwarded"] })).toBe(
      "6.6.6.6",
    );
  });

  it("reads no other header when Forwarded is malformed", () => {
    const headers = { forwarded: "for=9.9.9.9, for", "x-real-ip": "6.6.6.6" };
    expect(find(headers, proxy, { ...options, headers: ["forwarded", "x-real-ip"] })).toBe(proxy);
  });

  it("trusts no client with an empty list", () => {
    expect(find({ "x-forwarded-for": "9.9.9.9" }, proxy, { trustedProxies: [] })).toBe(proxy);
  });

  it("never returns an entry to the left of a client's address", () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.ipV4(), (claims, client) => {
        fc.pre(!client.startsWith("10.") && client !== "127.0.0.1");
        const value = [...claims.map((claim) => claim.replaceAll(/[^\x20-\x7e]/g, "?")), client];
        expect(find({ "x-forwarded-for": value.join(",") }, proxy, options)).toBe(client);
      }),
    );
  });
});

describe("realIp", () => {
  it.each<[RealIPOptions]>([
    [{ trustedProxies: ["10."] }],
    [{ trustedProxies: ["010.0.0.1"] }],
    [{ trustedProxies: ["10.0.0.0/33"] }],
  ])("refuses %j", (options) => {
    expect(() => realIp(options)).toThrow(
      expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }),
    );
  });

  it("refuses a header that it does not know", () => {
    const headers = JSON.parse('["x-client-ip"]');
    expect(() => realIp({ headers })).toThrow(
      expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }),
    );
  });

  it("sets the address of the context, without its port", async () => {
    expect(await seen({ "x-real-ip": "8.8.8.8" }, "1.2.3.4")).toBe("8.8.8.8");
    expect(await seen({}, "1.2.3.4:80")).toBe("1.2.3.4");
  });

  it("does not change the address of the context when there is none", async () => {
    expect(await seen({}, "bad-addr")).toBe("bad-addr");
  });
});
