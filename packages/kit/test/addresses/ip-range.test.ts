import { BlockList } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatIP, parseIP } from "../../src/addresses/ip-address.ts";
import { isInRange, networkAddress, parseIPRange } from "../../src/addresses/ip-range.ts";

describe("parseIPRange", () => {
  it.each([
    "",
    "/",
    "10.0.0.0\n",
    "10.0.0.0/8\n",
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
  ])("rejects %j", (text) => {
    expect(parseIPRange(text)).toBeUndefined();
  });

  it("reads a range that holds the addresses that net.BlockList holds", () => {
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
        // A mapped address is IPv4 here; BlockList treats it differently.
        if (family === "ipv6" && (address?.version === 4 || parseIP(base)?.version === 4)) return;
        const list = new BlockList();
        list.addSubnet(base, length, family);
        expect(ours).toBe(list.check(text, family));
      }),
      { numRuns: 3000 },
    );
  });
});

describe("isInRange", () => {
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
  ])("decides whether %s is in %s: %s", (text, rangeText, expected) => {
    const address = parseIP(text);
    const range = parseIPRange(rangeText);
    expect(address !== undefined && range !== undefined && isInRange(address, range)).toBe(
      expected,
    );
  });
});

describe("networkOf", () => {
  it.each([
    ["1.2.3.4", 24, "1.2.3.0"],
    ["1.2.3.4", 32, "1.2.3.4"],
    ["1.2.3.4", 0, "0.0.0.0"],
    ["::ffff:1.2.3.4", 8, "1.0.0.0"],
    ["2001:db8:1:2:3:4:5:6", 48, "2001:db8:1::"],
    ["2001:db8:1:2:3:4:5:6", 64, "2001:db8:1:2::"],
    ["2001:db8:1:2:3:4:5:6", 0, "::"],
  ])("returns the network of %s/%i", (text, prefix, network) => {
    const address = parseIP(text);
    expect(address === undefined ? undefined : formatIP(networkAddress(address, prefix))).toBe(
      network,
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
