import { describe, expect, it } from "vitest";
import { moveLinks, type LinkTargets } from "../docs-site/move-links.ts";
import { sitePages } from "../docs-site/site-pages.ts";
import { forVitePress } from "../docs-site/stage-pages.ts";
import { codeBlocks } from "../scripts/markdown.ts";
import { readPackages, readText } from "../scripts/workspace-packages.ts";

describe("the pages of the documentation site", () => {
  const pages = sitePages();

  it("have a place each", () => {
    const places = pages.map(({ page }) => page);
    expect(places.filter((page, index) => places.indexOf(page) !== index)).toEqual([]);
  });

  it("include the README of every package", () => {
    const sources = pages
      .filter(({ section }) => section === "Packages")
      .map((page) => page.source);
    const readmes = readPackages("packages").map(({ folder }) => `${folder}/README.md`);
    expect(sources).toEqual(expect.arrayContaining(readmes));
  });

  it.each([
    ["docs/tutorial.md", "Start"],
    ["docs/deploy.md", "Guides"],
    ["docs/errors.md", "Reference"],
    ["docs/from-openapi-fetch.md", "Moving here"],
    ["SECURITY.md", "About"],
    ["docs/decisions/0001-srvx.md", undefined],
  ])("have %s in the section %s, once", (file, section) => {
    const found = pages.filter(({ source }) => source === file);
    expect(found.map((page) => page.section)).toEqual([section]);
  });

  it("name the first column of each table, which screen readers repeat with each row", () => {
    const nameless = pages.filter(({ source }) => /^\| +\|.*\n\|[ :|-]+$/m.test(readText(source)));
    expect(nameless.map(({ source }) => source)).toEqual([]);
  });

  it("start with commands that the README has too", () => {
    const [block = expect.fail("no commands")] = codeBlocks(readText("docs-site/index.md"), "sh");
    const commands = block.trim().split("\n");
    expect(commands).toHaveLength(2);
    for (const command of commands) expect(readText("README.md")).toContain(command);
  });
});

describe("moveLinks()", () => {
  const pages = new Map([
    ["README.md", "overview.md"],
    ["docs/tutorial.md", "tutorial.md"],
    ["packages/http/README.md", "packages/http/index.md"],
  ]);

  function move(markdown: string, repository?: string): readonly [string, readonly string[]] {
    const pictures: string[] = [];
    const targets: LinkTargets = { pages, repository };
    const moved = moveLinks(markdown, "docs/tutorial.md", targets, (file) => pictures.push(file));
    return [moved, pictures];
  }

  it.each([
    ["[a](../README.md#x)", "[a](./overview.md#x)"],
    ["[`b`](../packages/http/README.md)", "[`b`](./packages/http/index.md)"],
    ["[folder](../packages/http)", "[folder](./packages/http/index.md)"],
    ["[c](https://a.example/x.md) and [d](#here)", "[c](https://a.example/x.md) and [d](#here)"],
    ["`[e](../README.md)`", "`[e](../README.md)`"],
    ["```md\n[f](../nothing.md)\n```", "```md\n[f](../nothing.md)\n```"],
    ["[the test](../test/floors.ts)", "the test (`test/floors.ts`)"],
    ["[`test/floors.ts`](../test/floors.ts)", "`test/floors.ts`"],
  ])("writes %s as %s", (markdown, expected) => {
    expect(move(markdown)).toEqual([expected, []]);
  });

  it("links files that are not pages to the repository, when there is one", () => {
    expect(move("[the test](../test/floors.ts)", "https://git.example/fetchwork")[0]).toBe(
      "[the test](https://git.example/fetchwork/blob/main/test/floors.ts)",
    );
  });

  it("reports the pictures that a page shows", () => {
    expect(move("![parts](pictures/parts.svg)")).toEqual([
      "![parts](./pictures/parts.svg)",
      ["docs/pictures/parts.svg"],
    ]);
  });

  it("throws on a link to a file that does not exist", () => {
    expect(() => move("[gone](gone.md)")).toThrow(
      "docs/tutorial.md links to gone.md: no such file",
    );
  });
});

it.each([
  ["a {{ value }}", "a &#123;&#123; value }}"],
  ["`{{ code }}`", "`{{ code }}`"],
  ["`two <a\n<b> lines`", "`two <a <b> lines`"],
  ["```\n{{ x }}\n```", "```\n{{ x }}\n```"],
])("forVitePress() writes %j as %j", (markdown, expected) => {
  expect(forVitePress(markdown)).toBe(expected);
});
