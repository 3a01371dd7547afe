import fc from "fast-check";
import { expect, it } from "vitest";
import { mergeText } from "../src/workspace/merge-text.ts";

it.each([
  ["joins changes of different lines", "1\n2\n3\n", "A\n2\n3\n", "1\n2\nC\n", "A\n2\nC\n"],
  ["takes a change that both made once", "1\n2\n", "1\nB\n", "1\nB\n", "1\nB\n"],
  ["keeps what one took away", "1\n2\n3\n", "2\n3\n", "1\n2\n3\n4\n", "2\n3\n4\n"],
  ["refuses two changes of a line", "1\n2\n", "1\nA\n", "1\nB\n", undefined],
  ["refuses a change of what the other took away", "1\n2\n3\n", "1\n3\n", "1\nB\n3\n", undefined],
  ["refuses two additions in one place", "1\n", "1\nA\n", "1\nB\n", undefined],
  ["counts a missing line end as a change", "1\n2\n3", "1\n2\n3\n", "0\n2\n3", "0\n2\n3\n"],
  [
    "takes lines named like fields of objects",
    "__proto__\n1\n",
    "__proto__\nA\n",
    "constructor\n__proto__\n1\n",
    "constructor\n__proto__\nA\n",
  ],
] as const)("%s", (...[, base, theirs, ours, result]) => {
  expect(mergeText(base, theirs, ours)).toBe(result);
});

const text = fc
  .array(fc.constantFrom("a\n", "b\n", "}\n", "\n", "c\n"), { maxLength: 12 })
  .map((lines) => lines.join(""));

it("mergeText leaves a text alone that only one side changed", () => {
  fc.assert(
    fc.property(text, text, (base, changed) => {
      expect(mergeText(base, changed, base)).toBe(changed);
      expect(mergeText(base, base, changed)).toBe(changed);
      expect(mergeText(base, changed, changed)).toBe(changed);
    }),
  );
});

it("mergeText loses no line that a person added, and invents none", () => {
  const marked = (base: string, at: number, mark: string): string =>
    base.split("\n").toSpliced(at, 0, mark).join("\n");
  fc.assert(
    fc.property(text, fc.nat(12), fc.nat(12), (base, first, second) => {
      const theirs = marked(base, first, "their line");
      const ours = marked(base, second, "our line");
      const merged = mergeText(base, theirs, ours);
      if (merged === undefined) return;
      const rest = merged.split("\n").filter((line) => !/^(?:their|our) line$/.test(line));
      expect(rest.join("\n")).toBe(base);
      expect(merged.split("\n").filter((line) => line === "their line")).toHaveLength(1);
      expect(merged.split("\n").filter((line) => line === "our line")).toHaveLength(1);
    }),
  );
});

it("mergeText merges long texts of equal lines quickly, and reports a conflict when little is equal", () => {
  const long = "}\n".repeat(50_000);
  expect(mergeText(long, `A\n${long}`, `${long}B\n`)).toBe(`A\n${long}B\n`);
  const other = "y\n".repeat(10_000);
  expect(mergeText(long, `A\n${long}`, other)).toBeUndefined();
  const source = Array.from({ length: 20_000 }, (_, at) => (at % 100 === 0 ? "}\n" : `${at}\n`));
  const [top, end] = [`A\n${source.join("")}`, `${source.join("")}B\n`];
  expect(mergeText(source.join(""), top, end)).toBe(`A\n${source.join("")}B\n`);
});

it.each(["theirs", "ours"])(
  "mergeText reports a conflict at once when only %s has changed too many lines",
  (side) => {
    const base = "x\n".repeat(100_000);
    const many = "z\n".repeat(100_001);
    const merged = side === "theirs" ? mergeText(base, many, "y\n") : mergeText(base, "y\n", many);
    expect(merged).toBeUndefined();
  },
);

it("mergeText takes over the change of one side among lines that are alike", () => {
  const lines = fc.array(fc.constantFrom("x\n", "y\n"), { maxLength: 6 });
  fc.assert(
    fc.property(lines, lines, (base, changed) => {
      const [before, after] = [base.join(""), changed.join("")];
      expect(mergeText(before, after, before)).toBe(after);
      expect(mergeText(before, before, after)).toBe(after);
    }),
  );
});
