import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseCookieDate, parseSetCookie } from "../../../src/client/cookies/parse-set-cookie.ts";

const now = Date.UTC(2026, 0, 1);
const day = 86_400_000;

describe("parseSetCookie", () => {
  it.each([
    ["", undefined],
    ["=", undefined],
    ["; Secure", undefined],
    ["a=\0", undefined],
    ["a=1\r\nSet-Cookie: b=2", undefined],
    [`a=${"x".repeat(4096)}`, undefined],
    ["a=1", { name: "a", value: "1" }],
    [" a = 1 ;x", { name: "a", value: "1" }],
    ["a=", { name: "a", value: "" }],
    ["a", { name: "", value: "a" }],
    ["a=b=c", { name: "a", value: "b=c" }],
    ['a="1"', { name: "a", value: '"1"' }],
    [
      "a=1; domain=.Example.COM; PATH=/x; SECURE; HttpOnly",
      { domain: "example.com", path: "/x", secure: true, httpOnly: true },
    ],
    ["a=1; Domain=; Path=x", { domain: undefined, path: undefined }],
    ["a=1; Path=/a; Path=/b", { path: "/b" }],
    ["a=1; Max-Age=60", { expires: now + 60_000 }],
    ["a=1; Max-Age=0", { expires: 0 }],
    ["a=1; Max-Age=-5", { expires: 0 }],
    ["a=1; Max-Age=x; Expires=Thu, 01 Jan 2026 00:01:00 GMT", { expires: now + 60_000 }],
    ["a=1; Expires=Fri, 01 Jan 2100 00:00:00 GMT; Max-Age=9", { expires: now + 9000 }],
    ["a=1; Max-Age=99999999999", { expires: now + 400 * day }],
    ["a=1; Expires=nonsense", { expires: undefined }],
  ])("reads %j", (line, expected) => {
    const parsed = parseSetCookie(line, now);
    if (expected === undefined) expect(parsed).toBeUndefined();
    else expect(parsed).toMatchObject(expected);
  });

  it("gives a name and a value without separators for any line, or nothing", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (line) => {
        const { name = "", value = "" } = parseSetCookie(line, now) ?? {};
        expect(name).not.toMatch(/[;=\r\n\0]/);
        expect(value).not.toMatch(/[;\r\n\0]/);
      }),
    );
  });
});

describe("parseCookieDate", () => {
  it.each([
    ["Wed, 21 Oct 2026 07:28:00 GMT", Date.UTC(2026, 9, 21, 7, 28)],
    ["Wednesday, 21-Oct-26 07:28:00 GMT", Date.UTC(2026, 9, 21, 7, 28)],
    ["Wed Oct 21 07:28:00 2026", Date.UTC(2026, 9, 21, 7, 28)],
    ["07:28:00 2026 21 october", Date.UTC(2026, 9, 21, 7, 28)],
    ["1 Jan 70 0:0:0", Date.UTC(1970, 0, 1)],
    ["1 Jan 69 0:0:0", Date.UTC(2069, 0, 1)],
    ["31 Feb 2026 00:00:00", undefined],
    ["1 Jan 1600 00:00:00", undefined],
    ["1 Jan 2026 24:00:00", undefined],
    ["1 Jan 2026", undefined],
    ["", undefined],
  ])("reads %j", (text, expected) => {
    expect(parseCookieDate(text)).toBe(expected);
  });

  it("reads every date as HTTP writes it", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_102_444_800 }), (at) => {
        expect(parseCookieDate(new Date(at * 1000).toUTCString())).toBe(at * 1000);
      }),
    );
  });
});
