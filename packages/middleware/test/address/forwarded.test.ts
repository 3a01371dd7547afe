import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addressOfNode, parseForwarded, parseForwardedFor } from "../../src/address/forwarded.ts";

function read(value: string): Record<string, string>[] | undefined {
  return parseForwarded(value)?.map((element) => Object.fromEntries(element));
}

describe("parseForwarded", () => {
  it.each([
    "for",
    "for=",
    "=1.2.3.4",
    "for =1.2.3.4",
    "for= 1.2.3.4",
    'for="1.2.3.4',
    'for="1.2.3.4\\',
    "for=1.2.3.4 for=2.3.4.5",
    "for=1.2.3.4;for=2.3.4.5",
    "for=1.2.3.4 proto=https",
    'for="1.2.3.4"proto=https',
    "for=[::1]",
    "for=1.2.3.4:80",
    "for=a,\u0000",
    "for=1,".repeat(101),
  ])("refuses %j", (value) => {
    expect(parseForwarded(value)).toBeUndefined();
  });

  // The examples of RFC 7239, 4 and 7.
  it.each([
    ['for="_gazonk"', [{ for: "_gazonk" }]],
    ['For="[2001:db8:cafe::17]:4711"', [{ for: "[2001:db8:cafe::17]:4711" }]],
    [
      "for=192.0.2.60;proto=http;by=203.0.113.43",
      [{ for: "192.0.2.60", proto: "http", by: "203.0.113.43" }],
    ],
    ["for=192.0.2.43, for=198.51.100.17", [{ for: "192.0.2.43" }, { for: "198.51.100.17" }]],
    [
      'for=192.0.2.43,for="[2001:db8:cafe::17]",for=unknown',
      [{ for: "192.0.2.43" }, { for: "[2001:db8:cafe::17]" }, { for: "unknown" }],
    ],
    ['for="a,b;c=\\"d\\""', [{ for: 'a,b;c="d"' }]],
    ["", []],
    [" , ;, ", []],
  ])("reads %j", (value, expected) => {
    expect(read(value)).toEqual(expected);
  });

  it("reads any quoted text", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ maxLength: 20 }), { minLength: 1, maxLength: 5 }),
        (texts) => {
          const value = texts
            .map((text) => `for="${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`)
            .join(", ");
          expect(read(value)).toEqual(texts.map((text) => ({ for: text })));
        },
      ),
    );
  });

  it.each([
    ['"', undefined, 1],
    ["\\", undefined, 1],
    ["for=", undefined, 1],
    ["a", undefined, 1],
    [";", 0, 1],
    [",", 0, 100],
    [" ", 0, 1],
    ['for="', undefined, 1],
    ["=", undefined, 1],
    ["for=a;", undefined, 1],
  ])("reads a megabyte of %j, and names no address", (unit, nodes, addresses) => {
    const value = unit.repeat(1_000_000 / unit.length);
    expect(parseForwarded(value)?.length).toBe(nodes);
    expect(parseForwardedFor(value)).toHaveLength(addresses);
    expect(addressOfNode(value)).toBeUndefined();
  });
});

describe("addressOfNode", () => {
  it.each([
    ["192.0.2.1", "192.0.2.1"],
    ["192.0.2.1:80", "192.0.2.1"],
    ["[2001:db8::1]", "2001:db8::1"],
    ["[2001:db8::1]:4711", "2001:db8::1"],
    ["2001:db8::1", undefined],
    ["[192.0.2.1]", undefined],
    ["192.0.2.1:_port", undefined],
    ["[::1%eth0]", undefined],
    ["010.0.0.1", undefined],
    ["unknown", undefined],
    ["_hidden", undefined],
    ["", undefined],
  ])("%j: %j", (node, expected) => {
    expect(addressOfNode(node)).toBe(expected);
  });
});

describe("parseForwardedFor", () => {
  it.each([
    ["1.1.1.1", ["1.1.1.1"]],
    ["1.1.1.1,2.2.2.2 ,\t3.3.3.3", ["1.1.1.1", "2.2.2.2", "3.3.3.3"]],
    ["", [""]],
    [",", ["", ""]],
    ["a,,b", ["a", "", "b"]],
  ])("reads %j", (value, expected) => {
    expect(parseForwardedFor(value)).toEqual(expected);
  });

  it("splits like String.split, and keeps the last 100", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("a", ",", " "), maxLength: 300 }), (value) => {
        const all = value.split(",").map((entry) => entry.trim());
        expect(parseForwardedFor(value)).toEqual(all.slice(-100));
      }),
    );
  });
});
