import { isIP } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatIP, parseIP } from "../../src/addresses/ip-address.ts";

/** Text that is nearly an address. */
const nearAddress = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.ipV4Extended(),
  fc.string({ unit: fc.constantFrom(...Array.from("0123456789abcdefF:::..x /[]")), maxLength: 48 }),
  fc
    .array(fc.constantFrom("0", "1", "00", "01", "255", "256", "ffff", "fffff", "", "1.2.3.4"), {
      maxLength: 10,
    })
    .map((parts) => parts.join(":")),
  fc
    .array(fc.constantFrom("0", "1", "00", "01", "255", "256", "", "0x1"), { maxLength: 6 })
    .map((parts) => parts.join(".")),
  fc
    .tuple(fc.ipV6(), fc.nat(40), fc.constantFrom("", ":", "0", ".", "::"))
    .map(([text, at, added]) => text.slice(0, at) + added + text.slice(at + 1)),
);

describe("parseIP", () => {
  it.each([
    "",
    "1",
    "1.2.3",
    "1.2.3.4.5",
    "010.0.0.1",
    "1.2.3.04",
    "0x7f.1",
    "0x7f.0.0.1",
    "2130706433",
    "1.2.3.256",
    "1.2.3.-1",
    " 1.2.3.4",
    "1.2.3.4 ",
    "1.2.3.4:80",
    "1..3.4",
    "1.2.3.",
    "١.2.3.4",
    "fe80::1%eth0",
    "[::1]",
    ":::",
    "1::2::3",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "1:2:3:4:5:6:7:8::",
    "::12345",
    "::g",
    "::1.2.3",
    "1.2.3.4::",
    "::ffff:01.2.3.4",
    "1:2:3:4:5:6:7:1.2.3.4",
    `${"0:".repeat(1000)}0`,
  ])("rejects %j", (text) => {
    expect(parseIP(text)).toBeUndefined();
  });

  it("accepts what net.isIP accepts, and nothing else", () => {
    fc.assert(
      fc.property(nearAddress, (text) => {
        expect(parseIP(text) !== undefined).toBe(isIP(text) !== 0);
      }),
      { numRuns: 20_000 },
    );
  });

  it("formats an address so that it parses to the same one", () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
        const parsed = parseIP(text);
        if (parsed === undefined) throw new Error(`${text} was refused`);
        expect(parseIP(formatIP(parsed))).toEqual(parsed);
        if (parsed.version === 6) {
          // The URL parser serialises as RFC 5952 does.
          expect(`[${formatIP(parsed)}]`).toBe(new URL(`http://[${text}]`).hostname);
        }
      }),
      { numRuns: 5000 },
    );
  });

  it.each([
    ["2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
    ["::FFFF:1.2.3.4", "1.2.3.4"],
    ["::ffff:102:304", "1.2.3.4"],
    ["0:0:0:0:0:0:0:0", "::"],
    ["1:0:0:2:0:0:0:3", "1:0:0:2::3"],
    ["1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7"],
    ["255.255.255.255", "255.255.255.255"],
  ])("writes %s as %s", (text, canonical) => {
    const parsed = parseIP(text);
    expect(parsed === undefined ? undefined : formatIP(parsed)).toBe(canonical);
  });
});
