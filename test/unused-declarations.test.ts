import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { removeUnusedDeclarations } from "../scripts/unused-declarations.ts";

it("A packed package has the declarations that its entries reach, and all modules", () => {
  const folder = mkdtempSync(join(tmpdir(), "unused-declarations-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const files = {
    "package.json": JSON.stringify({
      exports: { ".": { types: "./dist/index.d.ts" }, "./package.json": "./package.json" },
    }),
    "dist/index.d.ts": 'export { A } from "./a.ts";\nimport "./global.js";\nimport "zod";\n',
    "dist/a.d.ts": 'export declare const A: import("./deep/b.ts").B;\n',
    "dist/deep/b.d.ts": 'export type * from "../index.ts";\nexport interface B {}\n',
    "dist/global.d.ts": "export {};\n",
    "dist/unused.d.ts": 'export * from "./a.ts";\n',
    "dist/unused.js": "export {};\n",
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  removeUnusedDeclarations(folder);
  expect(globSync("dist/**/*.{js,ts}", { cwd: folder }).toSorted()).toEqual([
    "dist/a.d.ts",
    "dist/deep/b.d.ts",
    "dist/global.d.ts",
    "dist/index.d.ts",
    "dist/unused.js",
  ]);
});
