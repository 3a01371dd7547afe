import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { codeBlocks } from "../scripts/markdown.ts";
import { packagePages, readPackages, readText, root } from "../scripts/workspace-packages.ts";

// Inside the workspace, so that its packages and their dependencies resolve; ignored by git and the
// tools.
const folder = join(root, "node_modules/.cache/readme-snippets");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Pages with code, of which each block is one of a program. */
const pages = [
  ...globSync("{README.md,docs/*.md,examples/*/README.md}", { cwd: root }),
  ...packagePages(),
].toSorted();

/**
 * Where the files are tried that a page has for a project, which `// src/` names in the first line.
 */
const projects: Readonly<Record<string, string>> = {
  "docs/from-generator-rest.md": "test/moving/from-generator-rest.test.ts",
  "docs/many-customers.md": "test/guides.process.test.ts",
  "docs/own-routes.md": "test/guides.process.test.ts",
  "docs/testing.md": "test/guides.process.test.ts",
  "docs/tutorial-shop.md": "test/tutorial-shop.process.test.ts",
};

/** Declarations around the js blocks of a page, which are parts of programs. */
const surroundings: Readonly<Record<string, string>> = {
  "docs/changing-models.md": `import { defineConfig, defineService, serverSettings } from "@fetchwork/service";
    import type { DocumentMigration } from "fetchwork";
    const config = defineConfig({ ...serverSettings });
    declare const migrations: readonly DocumentMigration[];`,
  "docs/citus.md": "declare const url: string;",
  "docs/many-machines.md": "declare const url: string; declare const store: Store;",
  "docs/middlewares.md": `import { runHandler, type Handler } from "@fetchwork/http";
    declare const handler: Handler;
    type Serve = (request: Request, server: {
      remoteAddr: { hostname: string };
      requestIP(request: Request): { address: string } | null;
    }) => Promise<Response> | Response;
    declare const Deno: { serve(handler: Serve): void };
    declare const Bun: { serve(options: { fetch: Serve }): void };`,
  "docs/one-machine.md": "declare const url: string; declare let store: Store;",
};
const documents = `import { administer, defineCollection, openStore, type Store } from "@fetchwork/documents";
  const users = defineCollection<{ email: string }>("users");
  const posts = defineCollection<{ status: string }>("posts");`;

it("every json block is valid JSON", () => {
  const blocks = pages.flatMap((page) => codeBlocks(readText(page), "json"));
  expect(blocks.length).toBeGreaterThan(5);
  for (const block of blocks) JSON.parse(block);
});

it("every page that has files of a project names the test that makes it", () => {
  const found = pages.filter((page) =>
    codeBlocks(readText(page), "ts").some((text) => text.startsWith("// src/")),
  );
  expect(found).toEqual(Object.keys(projects));
  for (const [page, test] of Object.entries(projects)) {
    expect(readText(test)).toContain(basename(page, ".md"));
  }
});

it("every ts block of the pages compiles alone", { timeout: 120_000 }, () => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const blocks = pages.flatMap((readme) =>
    codeBlocks(readText(readme), "ts").flatMap((text, index) => {
      // The test that makes the project tries it.
      if (text.startsWith("// src/")) return [];
      const file = `${readme.replaceAll("/", "-")}.${index + 1}.mts`;
      // A block of a project imports that project's files.
      const moved = text.replaceAll('from "./', `from "../../../${dirname(readme)}/`);
      writeFileSync(join(folder, file), `${moved}\nexport {};\n`);
      return [file];
    }),
  );
  const parts = pages
    .filter((page) => !basename(page).startsWith("from-"))
    .flatMap((page) =>
      codeBlocks(readText(page), "js").map((text, index) => {
        const around = surroundings[page] ?? expect.fail(`${page} has js code that is not tried`);
        const file = `${page.replaceAll("/", "-")}.part-${index + 1}.mts`;
        const part = text.replaceAll(/^import .* from "\.\/.*;$|^export /gm, "");
        writeFileSync(join(folder, file), `${documents}\n${around}\n{\n${part}}\nexport {};\n`);
        return file;
      }),
    );
  const files = [...blocks, ...parts];
  expect(Math.min(blocks.length / 20, parts.length)).toBeGreaterThan(5);

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
