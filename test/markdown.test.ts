import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { allCodeBlocks, codeBlocks, tableRows } from "../scripts/markdown.ts";

describe("allCodeBlocks", () => {
  it("returns the blocks of all languages in their order", () => {
    expect(allCodeBlocks("```sh\nls\n```\n\ntext\n\n```ts\none();\n```\n")).toEqual([
      { language: "sh", text: "ls\n" },
      { language: "ts", text: "one();\n" },
    ]);
  });
});

describe("codeBlocks", () => {
  it("returns the blocks of one language, without their fences", () => {
    const markdown =
      "a\n\n```ts\none();\n```\n\n```sh\nnpm i\n```\n\n```ts\ntwo();\n\nthree();\n```\n";
    expect(codeBlocks(markdown, "ts")).toEqual(["one();\n", "two();\n\nthree();\n"]);
  });

  it("ends a block only at a fence as long as the one that opened it", () => {
    expect(codeBlocks("````md\n```ts\none();\n```\n````\n", "ts")).toEqual([]);
  });
});

describe("tableRows", () => {
  it("returns the cells of each row of each table", () => {
    const markdown =
      "| a | b |\n| --- | :-: |\n| `1` | 2 |\n| 3 \\| 4 | |\n\ntext\n\n| c |\n|---|\n| 5 |";
    expect(tableRows(markdown)).toEqual([["`1`", "2"], ["3 \\| 4", ""], ["5"]]);
  });

  it("returns nothing for a table without rows", () => {
    expect(tableRows("| a |\n| --- |\n\ntext")).toEqual([]);
  });
});

describe("the repository", () => {
  const root = join(import.meta.dirname, "..");
  const names = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" })
    .split("\0")
    .filter(
      (name) => /\.(?:md|ts|mjs|cjs|js|html)$/.test(name) && name !== "test/markdown.test.ts",
    );

  it("names no issue by its number, and no file that is not in it", () => {
    const pattern = /\b[Ii]ssues? #?\d+\b|\bshared\/(?:spec|findings|research|vectors|weight)/;
    const found = names.filter((name) => pattern.test(readFileSync(join(root, name), "utf8")));
    expect(found).toEqual([]);
  });
});
