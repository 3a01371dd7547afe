import { posix, win32 } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { foldPath, validateFilePath, validateFilePaths } from "../src/files/file-path.ts";

describe("validateFilePath", () => {
  it.each([
    "",
    ".",
    "./",
    "/etc/passwd",
    "//server/share",
    "C:/x.js",
    "c:x.js",
    "..",
    "../x",
    "a/../../x",
    "a/..",
    "a\\b.js",
    "..\\x",
    "a\0b",
    "a\nb",
    "a\u202Ecod.js",
    "a\u200B.js",
    "src/",
    "con",
    "CON.txt",
    "a/nul.js",
    "com1",
    "LPT9.log",
    "COM¹",
    "aux.c",
    "a.",
    "a./b",
    "a /b",
    "a/ c/d",
    "a/ b",
    "file.txt:stream",
    "a?.js",
    "a*.js",
    'a"b"c',
    "a|b",
    "<a>",
    ".git/hooks/pre-commit",
    ".GIT/config",
    "a/.git/config",
    "git~1/config",
    ".fetchwork/manifest.json",
    "\uD800.js",
    `${"a/".repeat(30)}b`,
    "é".repeat(200),
    "x".repeat(600),
  ])("refuses %j", (path) => {
    expect(validateFilePath(path)).toEqual({ ok: false, reason: expect.any(String) });
  });

  it.each([
    ["index.html", "index.html"],
    ["./src/a.js", "src/a.js"],
    ["././a.js", "a.js"],
    ["`src/a.js`", "src/a.js"],
    ['"a.js"', "a.js"],
    [" a.js ", "a.js"],
    ["a//b/./c.js", "a/b/c.js"],
    ["e\u0301.js", "\u00E9.js"],
    [".github/workflows/ci.yml", ".github/workflows/ci.yml"],
    [".gitignore", ".gitignore"],
    ["console.js", "console.js"],
    ["src/[id]/page (1).tsx", "src/[id]/page (1).tsx"],
    ["日本/ファイル.md", "日本/ファイル.md"],
    ["..a/b", "..a/b"],
  ])("takes %j as %j", (path, normal) => {
    expect(validateFilePath(path)).toEqual({ ok: true, path: normal });
  });

  const hostile = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 40 }),
    fc
      .array(
        fc.constantFrom("..", ".", "/", "\\", "a", "C:", "con", " ", "%2e", "\0", ".git", "é"),
        { maxLength: 12 },
      )
      .map((parts) => parts.join("")),
  );

  it("never takes a path that resolves outside of the folder, on either system", () => {
    fc.assert(
      fc.property(hostile, (path) => {
        const result = validateFilePath(path);
        if (!result.ok) return;
        expect(posix.resolve("/root", result.path).startsWith("/root/")).toBe(true);
        expect(win32.resolve("C:\\root", result.path).startsWith("C:\\root\\")).toBe(true);
        expect(posix.normalize(result.path)).toBe(result.path);
      }),
      { numRuns: 2_000 },
    );
  });

  it("changes nothing of a path that it took", () => {
    fc.assert(
      fc.property(hostile, (path) => {
        const result = validateFilePath(path);
        if (result.ok) expect(validateFilePath(result.path)).toEqual(result);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("validateFilePaths", () => {
  it.each([
    [["a.js", "A.js"], "A.js"],
    [["é.js", "É.js"], "É.js"],
    [["a", "a/b"], "a/b"],
    [["a/b", "a"], "a"],
    [["src/a.js", "Src/b.js"], "Src/b.js"],
    [["x.js", "../x.js"], "../x.js"],
  ])("refuses what cannot stand together in %j", (list, refused) => {
    expect(validateFilePaths(list).refused).toEqual([
      { path: refused, reason: expect.any(String) },
    ]);
  });

  it("takes a path that is named twice once", () => {
    expect(validateFilePaths(["b.js", "./b.js", "a.js"])).toEqual({
      paths: ["b.js", "a.js"],
      refused: [],
    });
  });

  it("leaves no two paths that one disk could mix up", () => {
    const names = fc.constantFrom("a", "A", "b", "ß", "SS", "é", "É", "ﬁ", "fi");
    const path = fc.array(names, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/"));
    fc.assert(
      fc.property(fc.array(path, { maxLength: 12 }), (list) => {
        const { paths } = validateFilePaths(list);
        const folded = paths.map(foldPath);
        expect(new Set(folded).size).toBe(paths.length);
        for (const one of folded) {
          expect(folded.filter((other) => other.startsWith(`${one}/`))).toEqual([]);
        }
      }),
    );
  });
});
