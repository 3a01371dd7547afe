import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { extractCode } from "../src/files/extract-code.ts";

const js = "import os from 'os';\nos.cpus();\n";

describe("extractCode", () => {
  it.each([
    ["an answer without a fence", js, "a.js", js],
    ["a fence with a language", `\`\`\`js\n${js}\`\`\``, "a.js", js],
    ["a fence without one", `\`\`\`\n${js}\`\`\`\n`, "a.js", js],
    ["tildes", `~~~js\n${js}~~~\n`, "a.js", js],
    ["a language with signs", "```c++\nint a;\n```", "a.cpp", "int a;\n"],
    ["a title after the language", `\`\`\`js title="a.js"\n${js}\`\`\``, "a.js", js],
    ["Windows line ends around", "```js\r\nx();\r\n```\r\n", "a.js", "x();\r\n"],
    ["a byte order mark", "\uFEFFx();", "a.js", "x();\n"],
    ["a fence that is indented", "  ```js\n  if (x)\n    y();\n  ```", "a.js", "if (x)\n  y();\n"],
    ["a first line of a single word", "```python\nimport os\n```", "a.py", "import os\n"],
    [
      "two first lines of words",
      "```py\nimport os\nfrom enum import Enum\n```",
      "a.py",
      "import os\nfrom enum import Enum\n",
    ],
    [
      "a package line of Go",
      "```go\npackage main\n\nfunc main() {}\n```",
      "main.go",
      "package main\n\nfunc main() {}\n",
    ],
    [
      "prose before and after",
      `Here is the file:\n\n\`\`\`js\n${js}\`\`\`\n\nThat is all.`,
      "a.js",
      js,
    ],
    ["a longer fence around a shorter", "````js\n/*\n```\n*/\n````", "a.js", "/*\n```\n*/\n"],
    [
      "a tagged fence inside",
      "```js\nconst s = `\n```sh\nls\n```\n`;\n```",
      "a.js",
      "const s = `\n```sh\nls\n```\n`;\n",
    ],
    ["thoughts before the answer", "<think>\nuse ```\n</think>\nx();", "a.js", "x();\n"],
    [
      "a docstring with a fence",
      'def f():\n    """\n```\nx\n```\n    """\n',
      "a.py",
      'def f():\n    """\n```\nx\n```\n    """\n',
    ],
    [
      "a comment with a fence",
      "// See\n```\nnope\n```\nx();",
      "a.js",
      "// See\n```\nnope\n```\nx();\n",
    ],
    [
      "a README with fences",
      "# A\n\n```sh\nnpm i\n```\n\nDone.\n",
      "README.md",
      "# A\n\n```sh\nnpm i\n```\n\nDone.\n",
    ],
    [
      "a README that begins and ends with fences",
      "```sh\nnpm i\n```\n\nand\n\n```js\nx()\n```\n",
      "README.md",
      "```sh\nnpm i\n```\n\nand\n\n```js\nx()\n```\n",
    ],
    [
      "a wrapped README with fences inside",
      "```markdown\n# A\n\n```sh\nnpm i\n```\n\n```\nplain\n```\n```",
      "README.md",
      "# A\n\n```sh\nnpm i\n```\n\n```\nplain\n```\n",
    ],
    [
      "the block of the language",
      `\`\`\`sh\nnpm i\n\`\`\`\nand\n\`\`\`js\n${js}\`\`\``,
      "a.js",
      js,
    ],
    [
      "the block that names the file",
      `b.js:\n\`\`\`js\nb();\n\`\`\`\n**src/a.js**\n\`\`\`js\n${js}\`\`\``,
      "src/a.js",
      js,
    ],
  ])("takes the source out of %s", (_, answer, path, code) => {
    expect(extractCode(answer, path)).toMatchObject({ code, problem: undefined });
  });

  it.each([
    ["nothing", "", "a.js", "empty"],
    ["blanks", " \n\n", "a.js", "empty"],
    ["an empty fence", "```js\n\n```", "a.js", "empty"],
    ["thoughts without an end", "<think>\nlet me see", "a.js", "empty"],
    ["a fence that is not closed", "```js\nconst a = 1;\n", "a.js", "unclosed"],
    ["a wrapped README that is not closed", "```md\n# A\n", "README.md", "unclosed"],
    ["a second block that is not closed", "```js\na();\n```\nmore\n```js\nb(", "a.js", "unclosed"],
    ["two blocks of the language", "```js\na();\n```\nor\n```js\nb();\n```", "a.js", "ambiguous"],
  ])("says what is wrong with %s", (_, answer, path, problem) => {
    expect(extractCode(answer, path).problem).toBe(problem);
  });

  const line = fc.oneof(
    fc.string({ maxLength: 30 }),
    fc.constantFrom("```", "```js", "~~~", "    ```", "import os", "", "// ...", "`````"),
  );
  const source = fc
    .array(line, { minLength: 1, maxLength: 20 })
    .map((lines) => lines.join("\n").replaceAll("\r", ""))
    .filter((code) => code.trim() !== "");

  it("returns any source from a fence that is longer than those in it", () => {
    fc.assert(
      fc.property(source, fc.constantFrom("js", "", "ts title=x"), (code, info) => {
        const ticks = Math.max(2, ...Array.from(code.matchAll(/`+/g), ([run]) => run.length)) + 1;
        const fence = "`".repeat(ticks);
        const result = extractCode(`${fence}${info}\n${code}\n${fence}\n`, "a.js");
        expect(result).toEqual({ code: `${code}\n`, from: "fence", problem: undefined });
      }),
    );
  });

  it("never returns nothing for something without saying so", () => {
    fc.assert(
      fc.property(source, (answer) => {
        const { code, problem } = extractCode(answer, "a.ts");
        expect(code.trim() !== "" || problem !== undefined).toBe(true);
      }),
    );
  });

  it("reads an answer of a megabyte of fences, and reports that a block is not closed", () => {
    const answer = ["```x\n".repeat(20_000), " `".repeat(500_000)].join("");
    expect(extractCode(answer, "a.js")).toMatchObject({ problem: "unclosed" });
  });
});

it("extractCode keeps a Markdown file whole that shows Markdown after its first words", () => {
  const file = "# Guide\n\n```markdown\n**bold**\n```\n";
  expect(extractCode(file, "README.md")).toMatchObject({ code: file });
});

it("extractCode takes the block in the file's own language, also of a language that has no other names", () => {
  const answer = "Install:\n\n```bash\nnpm i\n```\n\n```toml\na = 1\n```\n";
  expect(extractCode(answer, "app.toml")).toMatchObject({ code: "a = 1\n" });
});
