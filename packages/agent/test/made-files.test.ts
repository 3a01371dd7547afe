import { describe, expect, it } from "vitest";
import { checkConsistency } from "../src/check/check-consistency.ts";

async function errorsOf(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const found = await checkConsistency(new Map(Object.entries(files)));
  return found
    .filter(({ severity }) => severity === "error")
    .map(({ code, path, line }) => `${code} ${path}:${line ?? "-"}`);
}

describe("an import of what a tool makes", () => {
  it.each<readonly [string, Readonly<Record<string, string>>]>([
    [
      "a path that git ignores",
      {
        "perf/.gitignore": "generated\n",
        "perf/a.ts": 'import type { App } from "./generated/app";\nexport type A = App;',
      },
    ],
    [
      "an alias that leads to a path that git ignores",
      {
        "docs/.gitignore": "/.source\n",
        "docs/tsconfig.json": '{"compilerOptions":{"paths":{"@/*":["./*"]}}}',
        "docs/lib/a.ts": 'export { docs } from "@/.source/server";',
      },
    ],
    [
      "types that a tool writes into another of the root folders",
      {
        ".gitignore": ".react-router\n",
        "web/tsconfig.json": '{"compilerOptions":{"rootDirs":[".",".react-router/types"]}}',
        "web/app/root.tsx": 'import type { Route } from "./+types/root";\nexport type R = Route;',
      },
    ],
    [
      "a file of another root folder",
      {
        "tsconfig.json": '{"compilerOptions":{"rootDirs":["src","made"]}}',
        "src/a.ts": 'export { b } from "./b";',
        "made/b.ts": "export const b = 1;",
      },
    ],
    [
      "a script that stands where the bundle will look for it",
      {
        "src/cli/main.ts": 'export const bin = new URL("../bin/run.mjs", import.meta.url);',
        "bin/run.mjs": "export {};",
      },
    ],
    [
      "a package that deno.json names",
      {
        "deno/deno.json": '{"imports":{"@std/assert":"jsr:@std/assert@^1.0.3","a/":"./a/"}}',
        "deno/a.test.ts": 'import { equal } from "@std/assert";\nimport "a/b.ts";\nequal(1, 1);',
      },
    ],
    [
      "a name that a module of types declares and exports under another one",
      { "a.d.ts": 'declare module "a:b" {\n  let _A: number;\n  export { _A as A };\n}\n' },
    ],
    [
      "an element of a component that no page loads",
      {
        "package.json": '{"dependencies":{"ui":"1.0.0"}}',
        "index.html": "<!doctype html><title>A</title><p>A</p>",
        "docs/a.tsx": 'document.querySelector(".of-the-package");\nexport {};',
      },
    ],
  ])("is not a fault: %s", async (_, files) => {
    expect(await errorsOf(files)).toEqual([]);
  });
});

describe("an import of what nothing makes", () => {
  it.each<readonly [string, Readonly<Record<string, string>>, string]>([
    [
      "a script whose compiled form alone is ignored",
      { ".gitignore": "*.js\n", "a.ts": 'import "./b.js";' },
      "missing-file a.ts:1",
    ],
    [
      "a path that another folder ignores",
      { "x/.gitignore": "generated\n", "a.ts": 'import "./generated/app.ts";' },
      "missing-file a.ts:1",
    ],
    [
      "a path that is excepted",
      { ".gitignore": "made/*\n!made/b.ts\n", "a.ts": 'import "./made/b.ts";' },
      "missing-file a.ts:1",
    ],
    [
      "a file of no root folder",
      {
        "tsconfig.json": '{"compilerOptions":{"rootDirs":["src","made"]}}',
        "src/a.ts": 'import "./b";',
      },
      "missing-file src/a.ts:1",
    ],
    [
      "a worker under a wrong name",
      { "src/a.ts": 'new Worker(new URL("./worker.js", import.meta.url));', "worker.js": "" },
      "missing-file src/a.ts:1",
    ],
    [
      "a package that the deno.json of another folder names",
      {
        "x/deno.json": '{"imports":{"@std/assert":"jsr:@std/assert"}}',
        "a.ts": 'import "@std/assert";',
      },
      "missing-dependency a.ts:1",
    ],
    [
      "an element of a component that a page loads",
      {
        "index.html": '<!doctype html><title>A</title><script type="module" src="/a.tsx"></script>',
        "a.tsx": 'document.getElementById("root");\nexport {};',
      },
      "missing-element a.tsx:1",
    ],
  ])("is a fault: %s", async (_, files, error) => {
    expect(await errorsOf(files)).toEqual([error]);
  });
});
