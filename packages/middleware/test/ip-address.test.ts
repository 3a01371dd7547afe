import { BlockList, isIP } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatIP, isPublicIP, parseIP } from "../src/ip-address.ts";
import { isInRange, parseIPRange } from "../src/ip-range.ts";

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
  ])("refuses %j", (text) => {
    expect(parseIP(text)).toBeUndefined();
    expect(isPublicIP(text)).toBe(false);
  });

  it("takes what net.isIP takes, and nothing else", () => {
    fc.assert(
      fc.property(nearAddress, (text) => {
        expect(parseIP(text) !== undefined).toBe(isIP(text) !== 0);
      }),
      { numRuns: 20_000 },
    );
  });

  it("writes an address so that it reads as the same one", () => {
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

describe("isPublicIP", () => {
  // Research A4: the boundaries of isPublic.
  it.each([
    ["8.8.8.8", true],
    ["1.1.1.1", true],
    ["10.0.0.1", false],
    ["10.255.255.255", false],
    ["172.15.255.255", true],
    ["172.16.0.0", false],
    ["172.31.255.255", false],
    ["172.32.0.0", true],
    ["192.168.0.1", false],
    ["192.167.255.255", true],
    ["169.254.0.1", false],
    ["100.63.255.255", true],
    ["100.64.0.0", false],
    ["100.127.255.255", false],
    ["100.128.0.0", true],
    ["198.18.0.1", false],
    ["198.19.255.255", false],
    ["198.20.0.0", true],
    ["127.0.0.1", false],
    ["0.0.0.0", false],
    ["0.0.0.1", true],
    ["224.0.0.1", false],
    ["239.255.255.255", false],
    ["240.0.0.1", true],
    ["255.255.255.255", false],
    ["203.0.113.1", true],
    ["::", false],
    ["::1", false],
    ["::2", true],
    ["fc00::1", false],
    ["fdff::1", false],
    ["fe80::1", false],
    ["febf::1", false],
    ["fec0::1", true],
    ["ff02::1", false],
    ["2001:db8::1", true],
    ["2606:4700:4700::1111", true],
    ["::ffff:10.0.0.1", false],
    ["::ffff:8.8.8.8", true],
  ])("%s: %s", (address, expected) => {
    expect(isPublicIP(address)).toBe(expected);
  });
});

describe("parseIPRange", () => {
  it.each([
    "10.0.0.0/33",
    "10.0.0.0/",
    "10.0.0.0/08",
    "10.0.0.0/-1",
    "10.0.0.0/8/8",
    "10.0.0/8",
    "/8",
    "::/129",
    "::/1e1",
    "::%eth0/64",
    "10.0.0.0 /8",
  ])("refuses %j", (text) => {
    expect(parseIPRange(text)).toBeUndefined();
  });

  it("holds the addresses that net.BlockList holds", () => {
    const v4 = fc.record({
      family: fc.constant("ipv4" as const),
      base: fc.ipV4(),
      length: fc.integer({ min: 0, max: 32 }),
      other: fc.ipV4(),
    });
    const v6 = fc.record({
      family: fc.constant("ipv6" as const),
      base: fc.ipV6(),
      length: fc.integer({ min: 0, max: 128 }),
      other: fc.ipV6(),
    });
    fc.assert(
      fc.property(fc.oneof(v4, v6), fc.boolean(), ({ family, base, length, other }, isNear) => {
        const range = parseIPRange(`${base}/${length}`);
        const text = isNear ? near(base, family) : other;
        const address = parseIP(text);
        const ours = range !== undefined && address !== undefined && isInRange(address, range);
        // A mapped address is IPv4 to us; BlockList has rules of its own for it.
        if (family === "ipv6" && (address?.version === 4 || parseIP(base)?.version === 4)) return;
        const list = new BlockList();
        list.addSubnet(base, length, family);
        expect(ours).toBe(list.check(text, family));
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    ["1.2.3.4", "1.2.3.0/24", true],
    ["1.2.4.4", "1.2.3.0/24", false],
    ["1.2.3.4", "1.2.3.99/24", true],
    ["255.255.255.255", "128.0.0.0/1", true],
    ["127.0.0.1", "128.0.0.0/1", false],
    ["::ffff:1.2.3.4", "1.2.3.0/24", true],
    ["1.2.3.4", "::ffff:1.2.3.0/120", true],
    ["1.2.3.4", "::ffff:0:0/96", true],
    ["1.2.3.4", "::/0", false],
    ["1.2.3.4", "::ffff:1.2.3.4/90", false],
    ["2001:db8::1", "0.0.0.0/0", false],
    ["2001:db8::1", "2001:db8::/32", true],
    ["2001:db9::1", "2001:db8::/32", false],
    ["ffff::", "8000::/1", true],
    ["1.2.3.4", "1.2.3.4", true],
    ["2001:db8::1", "2001:0db8:0::0001", true],
  ])("%s in %s: %s", (text, rangeText, expected) => {
    const address = parseIP(text);
    const range = parseIPRange(rangeText);
    expect(address !== undefined && range !== undefined && isInRange(address, range)).toBe(
      expected,
    );
  });
});

/** The same address with another last part. */
function near(base: string, family: "ipv4" | "ipv6"): string {
  const parsed = parseIP(base);
  if (parsed === undefined) return base;
  const [a, b, c, d] = parsed.words;
  return family === "ipv4"
    ? formatIP({ version: 4, words: [a, b, c, (d ^ 0x8001) >>> 0] })
    : formatIP({ version: 6, words: [a, b, (c ^ 1) >>> 0, d] });
}
