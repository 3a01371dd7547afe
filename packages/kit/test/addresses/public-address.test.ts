import { isIPv4 } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isPublicAddress } from "../../src/addresses/public-address.ts";

describe("isPublicAddress", () => {
  it.each([
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "192.0.0.192",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "::1",
    "::",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::a00:1",
    "2002:a00:1::",
    "::10.0.0.1",
    "fec0::1",
    "240.0.0.1",
    "203.0.113.1",
    "198.51.100.7",
    "192.0.2.1",
    "168.63.129.16",
    "3fff::1",
    "64:ff9b::7f00:1",
    "fe80::1",
    "fe80::1%eth0",
    "fc00::1",
    "fd12:3456::1",
    "ff02::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2001::1",
    "100::1",
    "",
    "localhost",
    "8.8.8",
    "0x7f.1",
    "8.8.8.8 ",
    "[2606:4700::1]",
  ])("rejects %j", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each([
    "8.8.8.8",
    "1.1.1.1",
    "100.63.255.255",
    "172.32.0.1",
    "192.167.255.255",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2a00:1450::1",
    "::ffff:8.8.8.8",
  ])("accepts %j", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it("never accepts a loopback, private or link-local address, however it is written", () => {
    const byte = fc.integer({ min: 0, max: 255 });
    const special = fc.oneof(
      fc.tuple(fc.constantFrom(0, 10, 127, 224, 255), byte, byte, byte),
      fc.tuple(fc.constant(192), fc.constant(168), byte, byte),
      fc.tuple(fc.constant(169), fc.constant(254), byte, byte),
      fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), byte, byte),
    );
    fc.assert(
      fc.property(special, ([a, b, c, d]) => {
        const dotted = [a, b, c, d].join(".");
        const hex = [a * 256 + b, c * 256 + d].map((part) => part.toString(16)).join(":");
        const host = new URL(`http://${((a * 256 + b) * 256 + c) * 256 + d}/`).hostname;
        expect(isIPv4(host)).toBe(true);
        for (const address of [dotted, host, `::ffff:${dotted}`, `::ffff:${hex}`, `::${hex}`]) {
          expect(isPublicAddress(address)).toBe(false);
        }
      }),
    );
  });
});
