// Edits as models make them, of the sources of the agent: the same ones for the same seed and the
// same sources.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { randomNumbers } from "../../packages/agent/test/random.ts";

const random = randomNumbers(500);
const source = path.resolve(import.meta.dirname, "../../packages/agent/src");
const texts = readdirSync(source, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .toSorted()
  .map((file) => readFileSync(path.join(source, file), "utf8").split("\n"))
  .filter((lines) => lines.length > 40);

/** Kinds of edits: how many, how each is made, and whether blanks at the ends of lines count. */
const kinds = [
  { kind: "Exact", count: 150, make: (part) => part },
  { kind: "Other blanks at the ends of lines", count: 75, make: withBlanks, isLoose: true },
  { kind: "Indented otherwise", count: 75, make: indented },
  { kind: "Moved to another place of the file", count: 50, make: moved },
  { kind: "A line added in between since", count: 50, make: withLineBetween },
  { kind: "Ambiguous: the lines occur there twice", count: 50, make: twice },
  { kind: "Absent: the line to change does not exist", count: 50, make: absent },
];

/**
 * All edits. Each has the lines of a file; an operation (" ", "-" or "+") for each line of a diff;
 * and the lines of the file as they are meant to become, or `undefined` where the edit must be
 * refused.
 */
export function sampleEdits() {
  return kinds.flatMap(({ kind, count, make, isLoose = false }) =>
    Array.from({ length: count }, (_, index) => ({ kind, isLoose, ...make(somePart(), index) })),
  );
}

/**
 * Three to nine lines that stand nowhere else, of which one is changed, and followed by a new one.
 */
function somePart() {
  for (;;) {
    const file = texts[random(texts.length)];
    const length = 3 + random(7);
    const at = random(file.length - length);
    const part = file.slice(at, at + length);
    const change = random(length);
    if ([part[0], part[change], part.at(-1)].some((line) => line.trim() === "")) continue;
    if (placesOf(file, part) !== 1) continue;
    const indent = /^ */.exec(part[change])[0];
    const added = [`${part[change]} // changed`, `${indent}added($&, "$1");`];
    const diff = part.flatMap((line, index) =>
      index === change ? [`-${line}`, ...added.map((one) => `+${one}`)] : [` ${line}`],
    );
    const [before, after] = [file.slice(0, at), file.slice(at + length)];
    const next = diff.filter(([op]) => op !== "-").map((line) => line.slice(1));
    return { file, diff, meant: [...before, ...next, ...after], before, part, after, change };
  }
}

function placesOf(lines, part) {
  return lines.filter((_, at) =>
    part.every((line, offset) => lines[at + offset]?.trim() === line.trim()),
  ).length;
}

/** The search has other blanks at the ends of its lines than the file: more, or fewer. */
function withBlanks({ file, diff, meant, before, part, after }, index) {
  const blanks = (line) => line + ["  ", "\t", " ", ""][random(4)];
  if (index % 2 === 0) {
    return { file, meant, diff: diff.map((line) => (line[0] === "+" ? line : blanks(line))) };
  }
  return { file: [...before, ...part.map(blanks), ...after], diff, meant };
}

/**
 * How a model may have the indentation, where it does not copy it: of what it searches for and of
 * what it puts there.
 */
const indentations = [
  (indent) => indent.replaceAll("  ", "    "),
  (indent) => indent.replaceAll("  ", "\t"),
  (indent) => `    ${indent}`,
  (indent) => `\t${indent}`,
  (indent, least) => indent.slice(least),
];

function indented({ file, diff, meant, part }, index) {
  const change = indentations[index % indentations.length];
  const depths = part.filter((line) => line.trim() !== "").map((line) => line.search(/\S/));
  const least = Math.min(...depths);
  const spoiled = diff.map((line) =>
    line.trim() === "" ? line : line[0] + line.slice(1).replace(/^ */, (at) => change(at, least)),
  );
  return { file, meant, diff: spoiled };
}

/**
 * Since the file was read the part has gone to another place: lines before it have gone behind it.
 */
function moved({ before, part, after, diff }) {
  const at = random(before.length + 1);
  const [first, rest] = [before.slice(0, at), before.slice(at)];
  const end = after.at(-1) === "" ? [...after.slice(0, -1), ...rest, ""] : [...after, ...rest];
  const next = diff.filter(([op]) => op !== "-").map((line) => line.slice(1));
  return { file: [...first, ...part, ...end], diff, meant: [...first, ...next, ...end] };
}

/** Somebody has added a line among those that are searched for. */
function withLineBetween({ before, part, after, diff, change }) {
  const at = 1 + random(part.length - 1);
  const line = "// somebody else's line";
  const next = diff.filter(([op]) => op !== "-").map((one) => one.slice(1));
  // A changed line has become two.
  const place = at > change ? at + 1 : at;
  return {
    file: [...before, ...part.toSpliced(at, 0, line), ...after],
    diff,
    meant: [...before, ...next.toSpliced(place, 0, line), ...after],
  };
}

/** Nobody can tell which place is meant. */
function twice(made, index) {
  const { before, part, after } = made;
  const file = [...before, ...part, ...after, ...part, ""];
  const spoiled = [made, withBlanks(made, 0), indented(made, index)][index % 3];
  return { file, diff: spoiled.diff, meant: undefined };
}

function absent({ file, diff }) {
  const other = diff.map((line) => (line[0] === "-" ? `${line} && absent()` : line));
  return { file, diff: other, meant: undefined };
}
