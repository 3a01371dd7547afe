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
    const done = spawnSync("git", ["apply", "-"], {
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
    expect(unifiedDiff("f", "a\n", undefined)).toBe(
      "--- a/f\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n",
    );
  });

  it("quotes a name that would begin a new line", () => {
    expect(unifiedDiff("a\n+++ b/x", "1\n", "2\n").split("\n")[0]).toBe('--- "a/a\\n+++ b/x"');
  });

  it("shows long texts whole of which little is the same, instead of comparing them for minutes", () => {
    const [before, after] = ["}\n", "{\n"].map((line) => line.repeat(20_000)) as [string, string];
    const diff = unifiedDiff("f", before, `${after}end`);
    expect(diff.startsWith("--- a/f\n+++ b/f\n@@ -1,20000 +1,20001 @@\n-}\n")).toBe(true);
    expect(apply(before, diff)).toBe(`${after}end`);
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
      fc.property(text, text, (before, after) => {
        fc.pre(before !== after);
        expect(apply(before, unifiedDiff("f", before, after))).toBe(after);
      }),
      { numRuns: 60 },
    );
  });
});
