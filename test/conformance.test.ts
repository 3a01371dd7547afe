import { execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..");

const tracked = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
}).split("\n");
const sources = tracked.filter((file) => /\.(?:ts|mjs)$/.test(file));

/** A recorded case runs as a test of its name. */
const recordedCases = globSync("packages/oauth2/test/vectors/*.json", { cwd: root });

function textOf(file: string): string {
  const files = file.endsWith("oauth2/test/vectors.test.ts") ? [file, ...recordedCases] : [file];
  return files.map((each) => readFileSync(join(root, each), "utf8")).join("\n");
}

/** The files that a page means by a name: the end of their paths. */
function filesOf(name: string): readonly string[] {
  return sources.filter((file) => file === name || file.endsWith(`/${name}`));
}

/** Finds the test files of a row, and the tests that it names after each. */
function testsOf(row: string): readonly (readonly [file: string, test: string | undefined])[] {
  let file: string | undefined;
  const cell =
    row
      .replace(/\s*\|$/, "")
      .split(" | ")
      .at(-1) ?? "";
  return Array.from(cell.matchAll(/`([^`]+\.(?:ts|mjs))`|"((?:[^"\\]|\\.)+)"/g)).flatMap(
    ([, name, test]) => {
      if (name !== undefined) file = name;
      return file === undefined ? [] : [[file, test] as const];
    },
  );
}

describe.each(globSync("docs/conformance/*.md", { cwd: root }))("%s", (page) => {
  it("names files and tests that there are", () => {
    const rows = readFileSync(join(root, page), "utf8").split("\n");
    const named = rows.filter((row) => row.startsWith("|")).flatMap(testsOf);
    expect(named.length).toBeGreaterThan(5);
    const missing = named.filter(([name, test]) => {
      const files = filesOf(name);
      if (test === undefined) return files.length === 0;
      const titles = [`"${test}"`, `\`${test}\``];
      return !files.some((file) => titles.some((title) => textOf(file).includes(title)));
    });
    expect(missing).toEqual([]);
  });
});

it("each row of the middlewares names a test", () => {
  const rows = readFileSync(join(root, "docs/conformance/middleware.md"), "utf8").split("\n");
  const tested = rows.filter((row) => /^\| (?!row |-)/.test(row));
  expect(tested.length).toBeGreaterThan(90);
  expect(tested.filter((row) => !testsOf(row).some(([, test]) => test !== undefined))).toEqual([]);
});
