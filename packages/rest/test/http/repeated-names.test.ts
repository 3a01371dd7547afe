import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hasRepeatedNames } from "../../src/http/repeated-names.ts";

const tell = (text: string): boolean => hasRepeatedNames(text, JSON.parse(text));

describe("hasRepeatedNames", () => {
  it.each([
    ['{"a":1,"a":1}'],
    ['{"a":1,"b":2,"a":3}'],
    [String.raw`{"a":1,"\u0061":2}`],
    ['{"x":{"a":1,"a":2}}'],
    ['[[{"a":1,"a":2}]]'],
    ['{"a":[],"a":{"b":1,"c":2}}'],
    ['{"__proto__":1,"__proto__":2}'],
    ['{"":1,"":2}'],
    [String.raw`{"\"":1,"\"":2}`],
    [String.raw`{"a\\":1,"a\\":2}`],
    ['{"1":1,"1":2}'],
  ])("finds it: %s", (text) => {
    expect(tell(text)).toBe(true);
  });

  it.each([
    ['{"a":1,"b":{"a":2}}'],
    ['{"a":{"a":{"a":[{"a":1},{"a":2}]}}}'],
    [String.raw`{"a":"\"a\":1,","b":"\\","c\\\"":":"}`],
    ['{"__proto__":1,"constructor":2,"toString":3}'],
    ['{":":":"}'],
    ["[1,2,null]"],
    ["null"],
    ['":"'],
    ["{}"],
  ])("finds none: %s", (text) => {
    expect(tell(text)).toBe(false);
  });

  it("finds none in what a program writes, and finds whatever is put in twice", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), fc.string(), fc.jsonValue(), (text, name, value) => {
        const key = JSON.stringify(name);
        const twice = `{${key}:${text},${JSON.stringify(`${name}x`)}:${JSON.stringify(value)},${key}:1}`;
        return !tell(text) && !tell(`{${key}:${text}}`) && tell(twice);
      }),
    );
  });

  it("takes texts of any depth", () => {
    const depth = 200_000;
    expect(tell(`${"[".repeat(depth)}${"]".repeat(depth)}`)).toBe(false);
  });
});
