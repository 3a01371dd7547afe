import { parseIP } from "@fetchwork/kit";
import { describe, expect, it } from "vitest";
import { isNonPrivateAddress } from "../../src/address/non-private-address.ts";

describe("isNonPrivateAddress()", () => {
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
  ])("judges %s as %s", (address, expected) => {
    const parsed = parseIP(address);
    expect(parsed !== undefined && isNonPrivateAddress(parsed)).toBe(expected);
  });
});
