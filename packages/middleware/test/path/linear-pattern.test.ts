import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LinearPattern } from "../../src/path/linear-pattern.ts";

const find = (source: string, text: string, ignoreCase = false): (string | undefined)[] | null => {
  const match = new LinearPattern(source, { ignoreCase }).find(text, 0, { steps: 1e6 });
  if (match === undefined) return null;
  return Array.from({ length: match.length / 2 }, (_, index) =>
    match[index * 2] === -1 ? undefined : text.slice(match[index * 2], match[index * 2 + 1]),
  );
};

describe("LinearPattern", () => {
  it.each([
    ["a back-reference", String.raw`(a)\1`],
    ["a named back-reference", String.raw`(?<a>a)\k<a>`],
    ["look-ahead", "a(?=b)"],
    ["look-behind", "(?<=a)b"],
    ["a negative look-ahead", "a(?!b)"],
    ["an atomic group", "(?>a)"],
    ["flags inside", "(?i)a"],
    ["a possessive repetition", "a++"],
    ["a repetition of a repetition", "a**"],
    ["a repetition of nothing", "*a"],
    ["a repeated assertion", "^*"],
    ["an open group", "(a"],
    ["a group that nothing opened", "a)"],
    ["an open class", "[a"],
    ["a range out of order", "[z-a]"],
    ["a range of sets", String.raw`[\d-z]`],
    ["bounds out of order", "a{2,1}"],
    ["a huge repetition", "a{1000}"],
    ["nested repetitions", "((a{100}){100}){100}"],
    ["deeply nested repetitions", `${"(?:".repeat(50)}a${"{100})".repeat(50)}`],
    ["nested repetitions of nothing", "(?:(?:(?:){100}){100}){100}"],
    ["a brace", "a{x"],
    ["an unknown escape", String.raw`\pL`],
    ["a trailing backslash", "\\"],
    ["two groups of one name", "(?<a>a)(?<a>b)"],
    ["more than 20 groups", "()".repeat(21)],
    ["a character that paths have encoded", "é"],
    ["64 KiB", "a".repeat(65_536)],
    ["deep nesting", "(".repeat(500) + ")".repeat(500)],
  ])("refuses %s, at once", (_, source) => {
    expect(() => new LinearPattern(source)).toThrow(
      expect.objectContaining({ code: "ERR_MIDDLEWARE_PATTERN" }),
    );
  });

  it.each([
    ["/sites/(.*)/settings/$", "/sites/a/b/settings/"],
    ["^/a/?$", "/a"],
    ["[^/]+", "/abc/"],
    ["[a-c-]+", "xa-cd"],
    ["[]a]", "a]"],
    [String.raw`\d{2,3}`, "1 12345"],
    [String.raw`(\w+)\.(html|js)\b`, "/a.b/index.html"],
    [String.raw`\Bb\B`, "abc"],
    ["a|ab|abc", "abc"],
    ["(a+)(b+)?", "aac"],
    ["a*?b", "aaab"],
    ["a{2}?", "aaa"],
    ["(?:ab)+", "ababa"],
    ["(?<year>[0-9]{4})-(?<rest>.+)", "x2026-11"],
    [String.raw`[\w.]+[^\s]`, "a.b c"],
    [String.raw`\x2f\/\.`, "//."],
    ["", "abc"],
    ["x*", "abc"],
    ["$", "abc"],
    ["(|a)", "a"],
  ])("finds what the platform's engine finds: %s in %s", (source, text) => {
    // JavaScript reads []a] as an empty class and a bracket; Go, Perl and we as a class of two.
    const oracle = source === "[]a]" ? /[\]a]/ : new RegExp(source);
    const expected = oracle.exec(text);
    expect(find(source, text)).toEqual(expected === null ? null : [...expected]);
  });

  it("matches without regard to case", () => {
    expect(find("^/API/[a-b]x", "/api/BX", true)).toEqual(["/api/BX"]);
    expect(find("^/API", "/api")).toBeNull();
  });

  it("finds what the platform's engine finds, for any pattern and text", () => {
    const literal = fc.constantFrom(
      "a",
      "b",
      "/",
      ".",
      "[ab]",
      "[^a]",
      String.raw`\w`,
      String.raw`\b`,
    );
    const quantified = fc.tuple(
      fc.constantFrom("a", "b", "/", ".", "[^/]", "(a)", "(?:a|b)", "(?:ab|a/)"),
      fc.constantFrom("*", "+", "?", "*?", "+?", "{1,2}", "{2}", "??"),
    );
    const part = fc.oneof(
      literal,
      quantified.map(([atom, quantifier]) => atom + quantifier),
      fc.constantFrom("(a|b)", "(a|ab)(/|b)", "^", "$", "(.*)", "(?:(?:a|b)+/)*", "|"),
    );
    const pattern = fc.array(part, { maxLength: 6 }).map((parts) => parts.join(""));
    const text = fc.string({ unit: fc.constantFrom("a", "b", "/", "c"), maxLength: 12 });
    fc.assert(
      fc.property(pattern, text, (source, text) => {
        const expected = new RegExp(source).exec(text);
        expect(find(source, text)?.[0]).toBe(expected?.[0]);
        if (!/\([^?][^)]*\)[*+?{]/.test(source)) {
          expect(find(source, text)).toEqual(expected === null ? null : [...expected]);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it("gives up when its budget is used up", () => {
    const budget = { steps: 100 };
    expect(new LinearPattern("(.*)x").find("a".repeat(1000), 0, budget)).toBeUndefined();
    expect(budget.steps).toBeLessThan(0);
  });
});
