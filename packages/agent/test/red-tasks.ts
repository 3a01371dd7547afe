import { randomNumbers, shuffled } from "./random.ts";

/** The languages of tasks. */
export type TaskLanguage = "javascript" | "typescript" | "python";

/** A program of small modules with a test for each, some of them wrong. */
export interface RedTask {
  readonly name: string;
  readonly language: TaskLanguage;
  /** What does not change: tests and manifests, by path. */
  readonly fixed: ReadonlyMap<string, string>;
  /** Modules by path, as they are right. */
  readonly right: ReadonlyMap<string, string>;
  /** The modules that are wrong, by the names of their tests. */
  readonly wrong: ReadonlyMap<string, { readonly path: string; readonly text: string }>;
}

interface Sample {
  readonly parameters: readonly (readonly [name: string, type: string])[];
  readonly result: string;
  /** Its lines in JavaScript and Python. */
  readonly script: readonly string[];
  readonly python: readonly string[];
  /** What is right, and a mistake that stands in its place: for both languages, or for each. */
  readonly mistake: readonly [script: Mistake, python?: Mistake];
  readonly cases: readonly (readonly [args: readonly unknown[], result: unknown])[];
}

type Mistake = readonly [right: string, wrong: string];

const samples: Readonly<Record<string, Sample>> = {
  clamp: {
    parameters: [
      ["value", "number"],
      ["low", "number"],
      ["high", "number"],
    ],
    result: "number",
    script: ["return Math.min(Math.max(value, low), high);"],
    python: ["return min(max(value, low), high)"],
    mistake: [
      ["Math.max(value, low), high", "Math.max(value, high), low"],
      ["max(value, low), high", "max(value, high), low"],
    ],
    cases: [
      [[5, 1, 3], 3],
      [[0, 1, 3], 1],
      [[2, 1, 3], 2],
    ],
  },
  mean: {
    parameters: [["numbers", "readonly number[]"]],
    result: "number",
    script: [
      "let sum = 0;",
      "for (const one of numbers) sum += one;",
      "return sum / numbers.length;",
    ],
    python: ["total = 0", "for one in numbers:", "    total += one", "return total / len(numbers)"],
    mistake: [
      ["sum / numbers.length", "sum / (numbers.length - 1)"],
      ["total / len(numbers)", "total / (len(numbers) - 1)"],
    ],
    cases: [[[[2, 4, 9]], 5]],
  },
  gcd: {
    parameters: [
      ["left", "number"],
      ["right", "number"],
    ],
    result: "number",
    script: [
      "while (right !== 0) {",
      "  [left, right] = [right, left % right];",
      "}",
      "return left;",
    ],
    python: ["while right != 0:", "    left, right = right, left % right", "return left"],
    mistake: [["return left", "return right"]],
    cases: [
      [[12, 18], 6],
      [[7, 5], 1],
    ],
  },
  factorial: {
    parameters: [["number", "number"]],
    result: "number",
    script: ["return number <= 1 ? 1 : number * factorial(number - 1);"],
    python: ["return 1 if number <= 1 else number * factorial(number - 1)"],
    mistake: [["number * factorial", "number + factorial"]],
    cases: [
      [[0], 1],
      [[5], 120],
    ],
  },
  prime: {
    parameters: [["number", "number"]],
    result: "boolean",
    script: [
      "for (let one = 2; one * one <= number; one += 1) {",
      "  if (number % one === 0) return false;",
      "}",
      "return number > 1;",
    ],
    python: [
      "one = 2",
      "while one * one <= number:",
      "    if number % one == 0:",
      "        return False",
      "    one += 1",
      "return number > 1",
    ],
    mistake: [["one * one <= number", "one * one < number"]],
    cases: [
      [[1], false],
      [[9], false],
      [[13], true],
    ],
  },
  reverse: {
    parameters: [["text", "string"]],
    result: "string",
    script: ['return text.split(" ").reverse().join(" ");'],
    python: ['return " ".join(reversed(text.split(" ")))'],
    mistake: [
      ['.join(" ")', '.join("")'],
      ['" ".join', '"".join'],
    ],
    cases: [[["one two three"], "three two one"]],
  },
  vowels: {
    parameters: [["text", "string"]],
    result: "number",
    script: [
      "let count = 0;",
      "for (const letter of text.toLowerCase()) {",
      '  if ("aeiou".includes(letter)) count += 1;',
      "}",
      "return count;",
    ],
    python: [
      "count = 0",
      "for letter in text.lower():",
      '    if letter in "aeiou":',
      "        count += 1",
      "return count",
    ],
    mistake: [['"aeiou"', '"aeio"']],
    cases: [[["A quick Umbrella"], 6]],
  },
  slug: {
    parameters: [["text", "string"]],
    result: "string",
    script: ['return text.trim().toLowerCase().split(/\\s+/).join("-");'],
    python: ['return "-".join(text.strip().lower().split())'],
    mistake: [['"-"', '"_"']],
    cases: [[["  Hello  Wide World "], "hello-wide-world"]],
  },
  unique: {
    parameters: [["list", "readonly number[]"]],
    result: "number[]",
    script: ["return list.filter((one, index) => list.indexOf(one) === index);"],
    python: ["return [one for index, one in enumerate(list) if list.index(one) == index]"],
    mistake: [
      ["=== index", "!== index"],
      ["== index", "!= index"],
    ],
    cases: [[[[3, 1, 3, 2, 1]], [3, 1, 2]]],
  },
  chunk: {
    parameters: [
      ["list", "readonly number[]"],
      ["size", "number"],
    ],
    result: "number[][]",
    script: [
      "const parts = [];",
      "for (let start = 0; start < list.length; start += size) {",
      "  parts.push(list.slice(start, start + size));",
      "}",
      "return parts;",
    ],
    python: [
      "parts = []",
      "for start in range(0, len(list), size):",
      "    parts.append(list[start:start + size])",
      "return parts",
    ],
    mistake: [["start + size", "start + size + 1"]],
    cases: [
      [
        [[1, 2, 3, 4, 5], 2],
        [[1, 2], [3, 4], [5]],
      ],
    ],
  },
  median: {
    parameters: [["numbers", "readonly number[]"]],
    result: "number",
    script: [
      "const sorted = [...numbers].sort((one, other) => one - other);",
      "const half = Math.floor(sorted.length / 2);",
      "return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;",
    ],
    python: [
      "ordered = sorted(numbers)",
      "half = len(ordered) // 2",
      "return ordered[half] if len(ordered) % 2 == 1 else (ordered[half - 1] + ordered[half]) / 2",
    ],
    mistake: [["[half - 1] +", "[half] +"]],
    cases: [
      [[[9, 1, 5]], 5],
      [[[4, 1, 10, 2]], 3],
    ],
  },
  leap: {
    parameters: [["year", "number"]],
    result: "boolean",
    script: ["return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);"],
    python: ["return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)"],
    mistake: [["% 400", "% 300"]],
    cases: [
      [[2000], true],
      [[1900], false],
      [[2024], true],
      [[2023], false],
    ],
  },
  weekday: {
    parameters: [
      ["year", "number"],
      ["month", "number"],
      ["day", "number"],
    ],
    result: "number",
    script: ["return new Date(Date.UTC(year, month - 1, day)).getUTCDay();"],
    python: ["from datetime import date", "", "return date(year, month, day).isoweekday() % 7"],
    mistake: [
      ["month - 1", "month"],
      [".isoweekday()", ".weekday()"],
    ],
    cases: [[[2024, 2, 1], 4]],
  },
  duration: {
    parameters: [["seconds", "number"]],
    result: "string",
    script: [
      "const minutes = Math.floor(seconds / 60);",
      'return `${minutes}:${String(seconds % 60).padStart(2, "0")}`;',
    ],
    python: ["minutes = seconds // 60", 'return f"{minutes}:{seconds % 60:02}"'],
    mistake: [
      ['padStart(2, "0")', "padStart(2)"],
      ["% 60:02", "% 60:2"],
    ],
    cases: [
      [[65], "1:05"],
      [[3], "0:03"],
    ],
  },
};

/**
 * Fifty tasks, the same for the same seed: 20 in JavaScript, 15 in TypeScript, and 15 in Python.
 */
export function redTasks(seed: number): readonly RedTask[] {
  const random = randomNumbers(seed);
  return Array.from({ length: 50 }, (_, index) => {
    const language = index < 20 ? "javascript" : index < 35 ? "typescript" : "python";
    const names = shuffled(Object.keys(samples), random).slice(0, 4 + random(9));
    const wrongCount = 2 + random(Math.min(10, names.length) - 1);
    return taskOf(`task ${index + 1} in ${language}`, language, names, wrongCount);
  });
}

function taskOf(
  name: string,
  language: TaskLanguage,
  names: readonly string[],
  wrongCount: number,
): RedTask {
  const write = language === "python" ? pythonOf : scriptOf;
  const parts = names.map((one) => {
    const sample = samples[one];
    if (sample === undefined) throw new Error(`there is no sample ${one}`);
    return { one, ...write(one, sample, language) };
  });
  const manifest: [string, string][] =
    language === "python" ? [] : [["package.json", '{"type":"module","private":true}\n']];
  return {
    name: `${name}: ${wrongCount} of ${names.length} wrong`,
    language,
    fixed: new Map([...manifest, ...testsOf(parts, language)]),
    right: new Map(parts.map(({ path, right }) => [path, right])),
    wrong: new Map(
      parts.slice(0, wrongCount).map(({ one, path, wrong }) => [one, { path, text: wrong }]),
    ),
  };
}

interface Written {
  readonly path: string;
  readonly right: string;
  readonly wrong: string;
  /** Lines of the test file. */
  readonly imports: readonly string[];
  readonly test: readonly string[];
}

/** Files of four tests each: a process for each test would take most of the time. */
function testsOf(
  parts: readonly Written[],
  language: TaskLanguage,
): readonly (readonly [path: string, text: string])[] {
  const files = Array.from({ length: Math.ceil(parts.length / 4) }, (_, index) =>
    parts.slice(index * 4, index * 4 + 4),
  );
  return files.map((some, index) => {
    const imports = some.flatMap((part) => part.imports);
    const tests = some.map(({ test }) => test.join("\n")).join("\n\n");
    if (language === "python") {
      const head = ["import unittest", ...imports, "", "", "class Test(unittest.TestCase):"];
      return [`test_${index + 1}.py`, `${[...head, tests].join("\n")}\n`];
    }
    const head = ['import assert from "node:assert/strict";', 'import { test } from "node:test";'];
    const path = `test/${index + 1}.test.${language === "typescript" ? "ts" : "js"}`;
    return [path, `${[...head, ...imports, "", tests].join("\n")}\n`];
  });
}

function scriptOf(name: string, sample: Sample, language: TaskLanguage): Written {
  const { parameters, result, script, mistake, cases } = sample;
  const isTyped = language === "typescript";
  const end = isTyped ? "ts" : "js";
  const list = parameters.map(([one, type]) => (isTyped ? `${one}: ${type}` : one)).join(", ");
  const head = `export function ${name}(${list})${isTyped ? `: ${result}` : ""} {`;
  const right = [head, ...script.map((line) => `  ${line}`), "}", ""].join("\n");
  const checks = cases.map(
    ([args, expected]) =>
      `  assert.deepEqual(${name}(${args.map((one) => JSON.stringify(one)).join(", ")}), ${JSON.stringify(expected)});`,
  );
  const imports = [`import { ${name} } from "../src/${name}.${end}";`];
  const test = [`test("${name}", () => {`, ...checks, "});"];
  const path = `src/${name}.${end}`;
  return {
    path,
    right,
    wrong: exchanged(right, mistake[0]),
    imports,
    test,
  };
}

function pythonOf(name: string, { parameters, python, mistake, cases }: Sample): Written {
  const head = `def ${name}(${parameters.map(([one]) => one).join(", ")}):`;
  const lines = python.map((line) => (line === "" ? "" : `    ${line}`));
  const right = [head, ...lines, ""].join("\n");
  const valueOf = (value: unknown): string =>
    typeof value === "boolean" ? (value ? "True" : "False") : JSON.stringify(value);
  const checks = cases.map(
    ([args, expected]) =>
      `        self.assertEqual(${name}(${args.map(valueOf).join(", ")}), ${valueOf(expected)})`,
  );
  const imports = [`from ${name} import ${name}`];
  const test = [`    def test_${name}(self):`, ...checks];
  const wrong = exchanged(right, mistake[1] ?? mistake[0]);
  return { path: `${name}.py`, right, wrong, imports, test };
}

function exchanged(text: string, [right, wrong]: Mistake): string {
  if (!text.includes(right)) throw new Error(`${JSON.stringify(right)} is not in:\n${text}`);
  return text.replace(right, wrong);
}
