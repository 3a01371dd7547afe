import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { applyEdit } from "../src/files/apply-edits.ts";
import { randomNumbers } from "./random.ts";

const random = randomNumbers(41);
const source = join(import.meta.dirname, "../src");
const texts = readdirSync(source, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .toSorted()
  .map((path) => readFileSync(join(source, path), "utf8"))
  .filter((text) => text.split("\n").length > 30);

/** A part of a text that occurs there once, and the lines around it. */
interface Part {
  readonly before: string;
  readonly lines: readonly string[];
  readonly after: string;
}

/**
 * Two to eight lines of a real source, the first and the last not empty, that no other lines are
 * like.
 */
function somePart(): Part {
  for (;;) {
    const lines = (texts[random(texts.length)] ?? "").split("\n");
    const length = 2 + random(7);
    const at = random(lines.length - length);
    const part = lines.slice(at, at + length);
    if (part[0]?.trim() === "" || part.at(-1)?.trim() === "") continue;
    if (placesOf(lines, part) !== 1) continue;
    // Nor does a longer line begin or end as they do.
    if (lines.join("\n").split(part.join("\n")).length !== 2) continue;
    const before = lines.slice(0, at).map((line) => `${line}\n`);
    const after = lines.slice(at + length).map((line) => `\n${line}`);
    return { before: before.join(""), lines: part, after: after.join("") };
  }
}

/** How often lines follow each other, whatever the blanks at their ends and their indentation. */
function placesOf(lines: readonly string[], part: readonly string[]): number {
  return lines.filter((_, at) =>
    part.every((line, offset) => lines[at + offset]?.trim() === line.trim()),
  ).length;
}

/**
 * The lines as a model could change them: a word of one line, and a line that is added as deep as
 * it.
 */
function changed(lines: readonly string[]): readonly string[] {
  const at = random(lines.length);
  return lines.flatMap((line, index) => {
    if (index !== at || line.trim() === "") return [line];
    const indent = /^ */.exec(line)?.[0] ?? "";
    return [`${line} // changed`, `${indent}added($&, "$1");`];
  });
}

type Spoil = (lines: readonly string[]) => readonly string[];

/** The blanks that a line begins with, changed. */
function indented(change: (indent: string) => string): Spoil {
  return (lines) => lines.map((line) => (line.trim() === "" ? line : line.replace(/^ */, change)));
}

/** How a model may have the indentation of all lines, where it does not copy it. */
const indentations: readonly Spoil[] = [
  indented((indent) => indent.replaceAll("  ", "    ")),
  indented((indent) => indent.replaceAll("  ", "\t")),
  indented((indent) => `    ${indent}`),
  indented((indent) => `\t${indent}`),
  (lines) => {
    const depths = lines.filter((line) => line.trim() !== "").map((line) => line.search(/\S/));
    return indented((indent) => indent.slice(Math.min(...depths)))(lines);
  },
];

/**
 * Blanks at the ends of lines: of the first one, so that it is not as it was, and of some others.
 */
const withBlanks: Spoil = (lines) =>
  lines.map((line, index) => line + (["  ", "\t", " ", ""][random(index === 0 ? 3 : 4)] ?? ""));

const count = (times: number): readonly number[] =>
  Array.from({ length: times }, (_, index) => index);

it("the edit tool applies 200 exact edits of 200, each with exactly the text that was meant", () => {
  const right = count(200).filter((index) => {
    const { before, lines, after } = somePart();
    const next = changed(lines).join("\n");
    const end = index % 2 === 0 && after !== "" ? "\n" : "";
    const outcome = applyEdit(
      before + lines.join("\n") + after,
      lines.join("\n") + end,
      next + end,
    );
    return outcome.ok && outcome.text === before + next + after;
  });
  expect(right).toHaveLength(200);
});

it("the edit tool applies 100 edits of 100 whose search, or whose file, has other blanks at the ends of lines", () => {
  const right = count(100).filter((index) => {
    const { before, lines, after } = somePart();
    const [inFile, searched] = [lines, withBlanks(lines)];
    const [text, search] = index % 2 === 0 ? [inFile, searched] : [searched, inFile];
    const next = changed(lines).join("\n");
    const outcome = applyEdit(before + text.join("\n") + after, search.join("\n"), next);
    return outcome.ok && outcome.text === before + next + after;
  });
  expect(right).toHaveLength(100);
});

it("the edit tool applies 100 edits of 100 whose lines are indented otherwise, and indents them as the file", () => {
  const right = count(100).filter((index) => {
    const { before, lines, after } = somePart();
    const next = changed(lines);
    const spoil = indentations[index % indentations.length] ?? withBlanks;
    // Both together, since what a model adds is as deep as what it copied.
    const spoiled = spoil([...lines, ...next]);
    const [search, replace] = [spoiled.slice(0, lines.length), spoiled.slice(lines.length)];
    const outcome = applyEdit(
      before + lines.join("\n") + after,
      search.join("\n"),
      replace.join("\n"),
    );
    return outcome.ok && outcome.text === before + next.join("\n") + after;
  });
  expect(right).toHaveLength(100);
});

it("the edit tool refuses 50 edits of 50 whose search stands in the file twice, as it is or but for blanks", () => {
  const right = count(50).filter((index) => {
    const { before, lines, after } = somePart();
    const again = `\n${lines.join("\n")}\n`;
    const spoil = [(some: readonly string[]) => some, withBlanks, ...indentations][index % 7];
    const search = (spoil?.(lines) ?? lines).join("\n");
    const outcome = applyEdit(before + lines.join("\n") + after + again, search, "wrong();");
    return !outcome.ok && outcome.kind === "several-matches";
  });
  expect(right).toHaveLength(50);
});

it("the edit tool refuses 50 edits of 50 of which one line is not in the file, and shows what is most like them", () => {
  const shown = count(50).flatMap(() => {
    const { before, lines, after } = somePart();
    const at = lines.findIndex((line) => line.trim() !== "");
    const search = lines.map((line, index) => (index === at ? `${line} && absent()` : line));
    const outcome = applyEdit(before + lines.join("\n") + after, search.join("\n"), "wrong();");
    return !outcome.ok && outcome.kind === "no-match" ? [outcome.nearest === lines.join("\n")] : [];
  });
  expect(shown).toHaveLength(50);
  expect(shown.filter(Boolean).length).toBeGreaterThanOrEqual(40);
});
