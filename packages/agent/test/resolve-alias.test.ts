import { describe, expect, it } from "vitest";
import { checkConsistency } from "../src/check/check-consistency.ts";

async function errorsOf(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const found = await checkConsistency(new Map(Object.entries(files)));
  return found.map(({ code, path, line }) => `${code} ${path}:${line ?? "-"}`);
}

const target = "export const a = 1;\n";

describe("a name that is not a path", () => {
  it.each<readonly [string, Readonly<Record<string, string>>, string]>([
    [
      "paths of tsconfig.json",
      {
        "tsconfig.json": '{ "compilerOptions": { "paths": { "@/*": ["./src/*"] }, } } // comment',
        "src/a.ts": target,
      },
      "@/a",
    ],
    [
      "paths under a base",
      {
        "tsconfig.json": '{"compilerOptions":{"baseUrl":"src","paths":{"~lib/*":["lib/*"]}}}',
        "src/lib/a.ts": target,
      },
      "~lib/a",
    ],
    [
      "paths and a name with dollar signs",
      {
        "tsconfig.json": '{"compilerOptions":{"paths":{"~/*":["./app/*"]}}}',
        "app/routes/$$a.ts": target,
      },
      "~/routes/$$a",
    ],
    [
      "imports of package.json and a name with dollar signs",
      {
        "package.json": '{"type":"module","imports":{"#lib/*":"./lib/*.js"}}',
        "lib/$&a.js": target,
      },
      "#lib/$&a",
    ],
    [
      "paths with several targets",
      {
        "jsconfig.json": '{"compilerOptions":{"paths":{"@app/*":["gone/*","app/*"]}}}',
        "app/a.js": target,
      },
      "@app/a",
    ],
    [
      "an exact name",
      {
        "tsconfig.app.json": '{"compilerOptions":{"paths":{"shared":["lib/a.ts"]}}}',
        "lib/a.ts": target,
      },
      "shared",
    ],
    [
      "imports of package.json",
      { "package.json": '{"type":"module","imports":{"#lib/*":"./lib/*.js"}}', "lib/a.js": target },
      "#lib/a",
    ],
    [
      "imports with conditions",
      {
        "package.json":
          '{"type":"module","imports":{"#a":{"types":"./a.d.ts","default":"./lib/a.js"}}}',
        "lib/a.js": target,
      },
      "#a",
    ],
    [
      "a package of the workspace",
      {
        "packages/a/package.json": '{"name":"@x/a","main":"lib/a.js"}',
        "packages/a/lib/a.js": target,
      },
      "@x/a",
    ],
    [
      "exports of a package of the workspace",
      {
        "packages/a/package.json": '{"name":"@x/a","exports":{"./*":{"import":"./src/*.js"}}}',
        "packages/a/src/a.js": target,
      },
      "@x/a/a",
    ],
  ])("is found by %s", async (_, files, specifier) => {
    const good = { ...files, "main.ts": `import { a } from "${specifier}";\nconsole.log(a);\n` };
    expect(await errorsOf(good)).toEqual([]);
    const wrong = { ...files, "main.ts": `import { b } from "${specifier}";\nconsole.log(b);\n` };
    expect(await errorsOf(wrong)).toEqual(["missing-export main.ts:1"]);
  });

  it("is missing where its pattern fits and no file is there", async () => {
    const config = '{"compilerOptions":{"paths":{"@/*":["./src/*"]}}}';
    const files = { "tsconfig.json": config, "main.ts": 'import { a } from "@/gone";\na();\n' };
    expect(await errorsOf(files)).toEqual(["missing-file main.ts:1"]);
  });

  it.each<readonly [string, Readonly<Record<string, string>>, string]>([
    [
      "what a build makes",
      { "packages/a/package.json": '{"name":"@x/a","main":"dist/index.js"}' },
      "@x/a",
    ],
    ["an alias that stands elsewhere", { "vite.config.js": "export default {};" }, "@/a"],
    [
      "a catch-all, which packages pass",
      {
        "tsconfig.json": '{"compilerOptions":{"baseUrl":".","paths":{"*":["types/*"]}}}',
        "package.json": '{"dependencies":{"react":"^19.0.0"}}',
      },
      "react",
    ],
    [
      "a configuration of another folder",
      { "apps/web/tsconfig.json": '{"compilerOptions":{"paths":{"@/*":["./src/*"]}}}' },
      "@/a",
    ],
    [
      "a configuration that is anything",
      { "tsconfig.json": '{"compilerOptions":{"paths":[1]}}' },
      "@/a",
    ],
  ])("is not an error of %s", async (_, files, specifier) => {
    const main = `import { a } from "${specifier}";\nconsole.log(a);\n`;
    expect(await errorsOf({ ...files, "main.ts": main })).toEqual([]);
  });
});
