import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isImplied, searchPattern, searchText } from "../src/document/search-text.ts";

const paths = [{ segments: ["t"] }, { segments: ["u"] }];

describe("A search text", () => {
  it("has two spaces before each word, three where there is no white space, and symbols at its end", () => {
    expect(searchText({ t: " Don't\tpanic (42)", u: ["C#", 7] }, paths)).toBe(
      "  don'   t  panic  (   42)  c#  7  't  (4  )  #",
    );
    expect(searchText({ t: "東京Tower", u: null }, paths)).toBe("  東京   tower  東京  京t");
    expect(searchText({}, paths)).toBe("  ");
  });

  it("of ASCII has the same inside of another text", () => {
    const ascii = fc.string({ unit: "binary-ascii" });
    fc.assert(
      fc.property(ascii, (t) => {
        const [alone] = searchText({ t }, paths).split("  東");
        const [beside] = searchText({ t, u: "東" }, paths).split("  東");
        expect(beside?.trimEnd()).toBe(alone?.slice(0, beside?.length).trimEnd());
      }),
    );
  });

  it("has the pattern of every part of three characters and more", () => {
    const text = fc.string({ unit: "grapheme", minLength: 3 }).map((t) => t.toLowerCase());
    fc.assert(
      fc.property(text, fc.nat(9), fc.nat(9), (t, from, more) => {
        const [folded = ""] = searchText({ t }, paths).trimStart().split(/\s/u);
        const part = Array.from(folded)
          .slice(from, from + 3 + more)
          .join("");
        fc.pre(Array.from(part).length >= 3);
        expect(searchText({ t }, paths)).toContain(searchPattern(part));
      }),
    );
  });
});

describe("The pattern of a word", () => {
  it.each([
    ["o", "  o"],
    ["ou", " ou"],
    ["our", "our"],
    ["😀", "  😀"],
    ["😀é", " 😀é"],
    ["foo-bar", "foo-   bar"],
    ["c#", " c#"],
  ])("%j is %j", (word, pattern) => {
    expect(searchPattern(word)).toBe(pattern);
  });

  it.each([
    ["bou", "about", true],
    ["o", "ou", true],
    ["ou", "our", false],
    ["ba", "foo-bar", true],
    ["oo", "foo-bar", false],
    ["ou", "o", false],
  ])("of %j is implied by that of %j: %s", (word, other, expected) => {
    expect(isImplied(searchPattern(word), { by: searchPattern(other) })).toBe(expected);
  });
});
