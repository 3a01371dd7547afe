import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anonymizeIP } from "../../src/observe/logger.ts";
import { formatDuration } from "../../src/observe/log-record.ts";
import { oneCompactLine, oneLine } from "../../src/log/one-line.ts";

describe("oneLine", () => {
  it.each([
    // Research A17: LF CR VT FF U+0085 U+2028 U+2029 become spaces; its gap, other controls, is
    // closed.
    ["a\nb\rc\vd\fe\u0085f\u2028g\u2029h\ti", "a b c d e f g h i"],
    ["\u001b[31mred\u009b0m", "\\x1b[31mred\\x9b0m"],
    ["\0\u0007\u007f", "\\x00\\x07\\x7f"],
    ["a\u202eb\u2066c", "a\\u202eb\\u2066c"],
    ["\ud800a", "\\ud800a"],
    ["100% %s %d", "100% %s %d"],
    ["é\u{1f600}", "é\u{1f600}"],
  ])("makes %j into %j", (text, line) => {
    expect(oneLine(text)).toBe(line);
  });

  it("leaves no control character in any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        // oxlint-disable-next-line no-control-regex
        expect(oneLine(text)).not.toMatch(/[\0-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]/);
      }),
    );
  });

  it("replaces runs of white space by one space in compact text", () => {
    expect(oneCompactLine("a \n\n  b\r\nc d")).toBe("a b c d");
  });
});

describe("formatDuration", () => {
  it.each([
    [0, "0s"],
    [-1, "0s"],
    [Number.NaN, "0s"],
    [0.0005, "500ns"],
    [0.8123, "812.3µs"],
    [4.2, "4.2ms"],
    [4477.84618, "4.47784618s"],
    [62_500, "1m2.5s"],
    [3_600_000, "1h0m0s"],
    [3_661_001, "1h1m1.001s"],
  ])("writes %s ms as %s", (milliseconds, text) => {
    expect(formatDuration(milliseconds)).toBe(text);
  });
});

describe("anonymizeIP", () => {
  it.each([
    ["12.34.56.78", "12.34.56.0"],
    ["12.34.56.78:4711", "12.34.56.0"],
    ["::ffff:12.34.56.78", "12.34.56.0"],
    ["[::ffff:12.34.56.78]:80", "12.34.56.0"],
    ["255.255.255.255", "255.255.255.0"],
    ["ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ffff:ffff:ffff::"],
    ["[2001:db8:1:2::1]:443", "2001:db8:1::"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1::"],
    ["2001:db8::1", "2001:db8::"],
    ["2001::1:2:3:4:5:6", "2001:0:1::"],
    ["fe80::1%eth0", "fe80::"],
    ["::1", "::"],
    ["::", "::"],
    ["unknown", "unknown"],
    ["1.2.3", "1.2.3"],
    ["", ""],
  ])("makes %j into %j", (ip, anonymous) => {
    expect(anonymizeIP(ip)).toBe(anonymous);
  });
});
