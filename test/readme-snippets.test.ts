import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { codeBlocks } from "../scripts/markdown.ts";
import { packagePages, readPackages, readText, root } from "../scripts/workspace-packages.ts";

// Inside the workspace, so that its packages and their dependencies resolve; ignored by git and the
// tools.
const folder = join(root, "node_modules/.cache/readme-snippets");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("every ts block of the READMEs compiles alone", { timeout: 120_000 }, () => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const readmes = ["README.md", ...packagePages(), "examples/blog/README.md"];
  const files = readmes.flatMap((readme) =>
    codeBlocks(readText(readme), "ts").map((text, index) => {
      const file = `${readme.replaceAll("/", "-")}.${index + 1}.mts`;
      // A block of a project imports that project's files.
      const moved = text.replaceAll('from "./', `from "../../../${dirname(readme)}/`);
      writeFileSync(join(folder, file), `${moved}\nexport {};\n`);
      return file;
    }),
  );
  expect(files).not.toEqual([]);

  const compilerOptions = { noUnusedLocals: false, noUnusedParameters: false };
  const project = { extends: "../../../tsconfig.json", compilerOptions, files, include: [] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(project));
  const tsc = spawnSync(
    process.execPath,
    [join(root, "node_modules/typescript/bin/tsc"), "-p", "."],
    {
      cwd: folder,
      encoding: "utf8",
    },
  );
  expect(tsc.stdout + tsc.stderr).toBe("");
});

it.each(readPackages("packages").map(({ folder: path }) => `${path}/README.md`))(
  "the sh code of %s installs every package of ours that its ts code imports",
  (readme) => {
    const installed = codeBlocks(readText(readme), "sh")
      .flatMap((block) => block.split("\n"))
      .filter((line) => line.startsWith("npm install "))
      .flatMap((line) => line.split(" ").slice(2));
    const imported = codeBlocks(readText(readme), "ts").flatMap((block) =>
      Array.from(
        block.matchAll(/ from "((?:@fetchwork\/|fetchwork\b)[^/"]*)/g),
        ([, name]) => name,
      ),
    );
    expect(imported.filter((name = "") => !installed.includes(name))).toEqual([]);
  },
);

it("the ts code of the READMEs has no ellipsis in a value, because a header rejects it", () => {
  const lines = ["README.md", ...packagePages()].flatMap((readme) =>
    codeBlocks(readText(readme), "ts").flatMap((block) => block.split("\n")),
  );
  expect(lines.filter((line) => /"[^"]*…[^"]*"/.test(line.replace(/\/\/ .*/, "")))).toEqual([]);
});
