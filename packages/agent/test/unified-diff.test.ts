import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { unifiedDiff } from "../src/workspace/unified-diff.ts";

/** What `git apply` makes of a diff. */
function apply(before: string, diff: string): string {
  const folder = mkdtempSync(join(tmpdir(), "agent-diff-"));
  try {
    writeFileSync(join(folder, "f"), before);
    const done = spawnSync("git", ["apply", "--unidiff-zero", "-"], {
      cwd: folder,
      input: diff,
      encoding: "utf8",
      env: { ...process.env, GIT_CEILING_DIRECTORIES: tmpdir() },
    });
    if (done.status !== 0) throw new Error(`${done.stderr}\n${diff}`);
    return readFileSync(join(folder, "f"), "utf8");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe("unifiedDiff", () => {
  it("is empty where nothing changes", () => {
    expect(unifiedDiff("f", "a\n", "a\n")).toBe("");
  });

  it("shows three lines around a change, and joins changes that are near", () => {
    const lines = Array.from({ length: 20 }, (_, at) => `${at}\n`);
    const after = lines.with(5, "five\n").with(9, "nine\n").with(19, "end");
    expect(unifiedDiff("src/f", lines.join(""), after.join(""))).toBe(
      "--- a/src/f\n+++ b/src/f\n" +
        "@@ -3,11 +3,11 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n-9\n+nine\n 10\n 11\n 12\n" +
        "@@ -17,4 +17,4 @@\n 16\n 17\n 18\n-19\n+end\n\\ No newline at end of file\n",
    );
  });

  it("shows a file that is new, and one that goes", () => {
    expect(unifiedDiff("f", undefined, "a\nb\n")).toBe(
      "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n",
    );
    expect(unifiedDiff("f", "a\n", undefined)).toBe("--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n");
  });

  it("quotes a name that would begin a line of its own", () => {
    expect(unifiedDiff("a\n+++ b/x", "1\n", "2\n").split("\n")[0]).toBe('--- "a/a\\n+++ b/x"');
  });

  it("shows long texts of equal lines whole instead of comparing them for minutes", () => {
    const long = "}\n".repeat(20_000);
    const diff = unifiedDiff("f", `a\n${long}b\n`, `c\n${long}}\nd\n`);
    expect(apply(`a\n${long}b\n`, diff)).toBe(`c\n${long}}\nd\n`);
    const lines = Array.from({ length: 20_000 }, (_, at) => `${at % 50 === 0 ? "}" : at}\n`);
    const changed = ["first\n", ...lines, "last\n"].join("");
    expect(unifiedDiff("f", lines.join(""), changed).match(/^[+-](?![+-])/gm)).toEqual(["+", "+"]);
  }, 5_000);

  it("makes what git applies to the same text", () => {
    const text = fc
      .array(fc.constantFrom("a", "b", "c", "", "--- x", "\r"), { minLength: 1, maxLength: 12 })
      .chain((lines) => fc.constantFrom(lines.join("\n"), `${lines.join("\n")}\n`))
      .filter((value) => value !== "");
    fc.assert(
      fc.property(text, text, fc.nat({ max: 4 }), (before, after, context) => {
        fc.pre(before !== after);
        // Without context git loses the line break before a last line that has none and goes, also of its own diff.
        fc.pre(context > 0 || before.endsWith("\n"));
        expect(apply(before, unifiedDiff("f", before, after, { context }))).toBe(after);
      }),
      { numRuns: 60 },
    );
  });
});
