import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { etagMatches } from "../../src/content/etag-matches.ts";

const etag = '"b433"';

describe("etagMatches", () => {
  it.each<[string | null, boolean]>([
    [null, false],
    ["", false],
    ["*", false],
    ["b433", false],
    ['"b43"', false],
    ['"b4333"', false],
    ['"wrong"', false],
    ['"b433', false],
    ['b433"', false],
    ['w/"b433"', false],
    ['W/ "b433"', false],
    ['"b433"x', false],
    ['"b433" "other"', false],
    ['x"b433"', false],
    ['"a,"b433"', false],
    ['"a, \\"b433"', false],
    ['"B433"', false],
    ['"b433"', true],
    ['W/"b433"', true],
    ['"a", "b433"', true],
    ['"a","b433","c"', true],
    ['  "b433"\t', true],
    [', ,"b433" , ', true],
    ['junk, "b433"', true],
    ['"a"junk, "b433"', true],
    ['"a,b", W/"b433"', true],
    ['*, "b433"', true],
  ])("%s: %s", (field, expected) => {
    expect(etagMatches(field, etag)).toBe(expected);
  });

  it("compares weakly whichever side is weak, and nothing without quotes", () => {
    expect(etagMatches('"b433"', 'W/"b433"')).toBe(true);
    expect(etagMatches('"b433"', "b433")).toBe(false);
    expect(etagMatches('", "', ", ")).toBe(false);
    expect(etagMatches('"', '"')).toBe(false);
    expect(etagMatches('"a,b"', '"a,b"')).toBe(true);
  });

  const opaque = fc.string({ unit: fc.constantFrom("a", "b", ",", " ", "!", "\u00e4", "*", "/") });
  const tag = fc.tuple(fc.constantFrom("", "W/"), opaque).map(([weak, text]) => ({
    text,
    written: `${weak}"${text}"`,
  }));
  const separator = fc.constantFrom(",", ", ", " , ", ",\t", ",,");

  it("finds a tag in a list exactly when it is an element of the list", () => {
    fc.assert(
      fc.property(fc.array(tag), separator, tag, (list, comma, wanted) => {
        const field = list.map(({ written }) => written).join(comma);
        expect(etagMatches(field, wanted.written)).toBe(
          list.some(({ text }) => text === wanted.text),
        );
      }),
    );
  });

  it("accepts any text, and reads a long one in linear time, or this would take minutes", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (field, wanted) => {
        expect(typeof etagMatches(field, wanted)).toBe("boolean");
      }),
    );
    for (const part of ['"', "W/", ",", ' "', '"a', 'W/"', '"",']) {
      expect(etagMatches(part.repeat(500_000), etag)).toBe(false);
    }
  });
});
