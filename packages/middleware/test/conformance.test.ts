import { existsSync } from "node:fs";
import { glob, readFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";

const document = await readFile(
  path.join(import.meta.dirname, "../../../docs/conformance/middleware.md"),
  "utf8",
);
/** The package's test files by their names; a row names a file without its folder. */
const testFiles = new Map<string, string>();
for await (const file of glob("**/*.test.ts", { cwd: import.meta.dirname })) {
  testFiles.set(path.basename(file), path.join(import.meta.dirname, file));
}
const rows = document.split("\n").filter((line) => /^\| (?!row |-)/.test(line));

/** The tests that a row names, each with its file. */
function testsOf(row: string): { file: string; name: string }[] {
  const [, , , cell = ""] = row.split(/(?<!\\) \| |^\| /);
  let file = "";
  return Array.from(cell.matchAll(/`([\w./-]+\.test\.ts)`|"([^"]+)"/g)).flatMap(
    ([, named, name]) => {
      if (named !== undefined) file = named;
      return name === undefined ? [] : [{ file, name }];
    },
  );
}

describe("docs/conformance/middleware.md", () => {
  it("has rows, and each names a test", () => {
    expect(rows.length).toBeGreaterThan(90);
    expect(rows.filter((row) => testsOf(row).length === 0)).toEqual([]);
  });

  it("names only tests that are there", async () => {
    const missing: string[] = [];
    const texts = new Map<string, string>();
    for (const { file, name } of rows.flatMap(testsOf)) {
      // Those of the whole workspace are named from its root.
      const place = /^(?:packages|test)\//.test(file)
        ? path.join(import.meta.dirname, "../../..", file)
        : (testFiles.get(path.basename(file)) ?? "");
      if (!texts.has(file)) texts.set(file, existsSync(place) ? await readFile(place, "utf8") : "");
      const text = texts.get(file) ?? "";
      const isThere = ['"', "'", "`"].some((quote) => text.includes(`${quote}${name}${quote}`));
      if (!isThere) missing.push(`${file} ${name}`);
    }
    expect(missing).toEqual([]);
  });
});
