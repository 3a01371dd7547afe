import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkConsistency } from "../src/check/check-consistency.ts";
import { injectFaults, type FaultyProject } from "./inject-faults.ts";
import { injectMoreFaults } from "./inject-more-faults.ts";
import { sampleProjects } from "./sample-projects.ts";

const samples = sampleProjects();

async function errorsOf(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const found = await checkConsistency(new Map(Object.entries(files)));
  return found.map(
    ({ severity, code, path, line }) => `${severity} ${code} ${path}:${line ?? "-"}`,
  );
}

describe("of projects without a fault", () => {
  it("has twenty-two of them", () => expect(samples.size).toBe(22));

  it.each([...samples])("finds nothing in %s", async (_, files) => {
    expect(await checkConsistency(files)).toEqual([]);
  });
});

describe("of projects with one fault", () => {
  const guide = readFileSync(join(import.meta.dirname, "../../../docs/agent/library.md"), "utf8");

  /** How many of the faults are found, and the kinds of those that are not. */
  async function find(inject: (files: ReadonlyMap<string, string>) => readonly FaultyProject[]) {
    const faults = [...samples.values()].flatMap((files) => inject(files));
    const missed: string[] = [];
    for (const { kind, files } of faults) {
      const found = await checkConsistency(files);
      if (!found.some(({ severity }) => severity === "error")) missed.push(kind);
    }
    return { total: faults.length, found: faults.length - missed.length, missed };
  }

  it("finds at least 93 of 100, and the guide says how many", async () => {
    const { total, found } = await find(injectFaults);
    expect(total).toBeGreaterThanOrEqual(100);
    expect(found / total).toBeGreaterThanOrEqual(0.93);
    expect(guide).toContain(`${found} of ${total}`);
  });

  it("finds what it can of six more kinds, and the guide says how many and what not", async () => {
    const { total, found, missed } = await find(injectMoreFaults);
    expect(total).toBeGreaterThanOrEqual(60);
    expect(found / total).toBeGreaterThanOrEqual(0.99);
    expect(guide).toContain(`${found} of ${total}`);
    expect(missed.filter((kind) => kind !== "forgotten import")).toEqual([]);
  });
});

describe("checkConsistency", () => {
  it.each([
    ["source that is none", { "a.js": "let = ;" }, ["error syntax a.js:1"]],
    ["JSON that is none", { "a.json": '{\n"a": 1,\n}' }, ["error syntax a.json:3"]],
    ["a style without an end", { "a.css": "a {\n b { }\n" }, ["error syntax a.css:1"]],
    [
      "a script in a page",
      { "a.html": "<p>\n<script>\nlet x = ;\n</script>" },
      ["error syntax a.html:3"],
    ],
    ["a file that is not there", { "a.js": "import './b.js';" }, ["error missing-file a.js:1"]],
    [
      "a name without its ending in Node",
      { "a.js": "import './b';", "b.js": "" },
      ["error missing-file a.js:1"],
    ],
    ["another case", { "a.js": "import './B.js';", "b.js": "" }, ["error missing-file a.js:1"]],
    [
      "a name that is not exported",
      { "a.js": "import { x } from './b.js';", "b.js": "export const y = 1;" },
      ["error missing-export a.js:1"],
    ],
    [
      "a default that is not there",
      { "a.js": "import x from './b.js';", "b.js": "export const x = 1;" },
      ["error missing-export a.js:1"],
    ],
    [
      "a member of a whole module",
      { "a.js": "import * as b from './b.js';\nb.x();", "b.js": "export const y = 1;" },
      ["error missing-export a.js:2"],
    ],
    [
      "a name of CommonJS",
      { "a.js": "const { x } = require('./b');\nx();", "b.js": "exports.y = 1;" },
      ["error missing-export a.js:1"],
    ],
    [
      "a re-export of nothing",
      { "a.js": "export { x } from './b.js';", "b.js": "export const y = 1;" },
      ["error missing-export a.js:1"],
    ],
    [
      "a package without package.json",
      { "a.js": "import 'left-pad';" },
      ["error missing-dependency a.js:1"],
    ],
    [
      "a class that is not imported",
      { "a.js": "new Game();", "b.js": "export class Game {}" },
      ["error undeclared-name a.js:1"],
    ],
    ["a function that is nowhere", { "a.js": "startAll();" }, ["error undeclared-name a.js:1"]],
    [
      "a file that is imported later",
      { "a.js": "const load = () => import('./b.js');\nload();" },
      ["error missing-file a.js:1"],
    ],
    [
      "require in a module",
      { "package.json": '{"type":"module"}', "a.js": "const fs = require('fs');" },
      ["error module-kind a.js:1"],
    ],
    [
      "module.exports in a module",
      { "a.mjs": "module.exports = 1;" },
      ["error module-kind a.mjs:1"],
    ],
    [
      "a module as a script",
      { "a.html": "<script src=a.js></script>", "a.js": "export {};" },
      ["error module-kind a.html:1"],
    ],
    [
      "a picture that is not there",
      { "a.html": "<img src=a.png>" },
      ["error missing-file a.html:1"],
    ],
    [
      "a label without its field",
      { "a.html": "<label for=a>A</label>" },
      ["error missing-element a.html:1"],
    ],
    ["one id twice", { "a.html": "<p id=a>\n<p id=a>" }, ["error duplicate-id a.html:2"]],
    [
      "an attribute that calls into a module",
      { "a.html": "<p onclick='go()'><script type=module>function go() {}</script>" },
      ["error undeclared-name a.html:1"],
    ],
    [
      "a class of no element",
      { "a.html": "<script>document.querySelector('.x')</script>" },
      ["error missing-element a.html:1"],
    ],
  ])("finds %s", async (_, files, expected) => {
    expect(await errorsOf(files as Readonly<Record<string, string>>)).toEqual(expected);
  });

  it.each([
    [
      "the main file of a folder's package",
      {
        "package.json": '{"main":"main.js"}',
        "main.js": "exports.start = () => 1;",
        "test/a.js": "const { start } = require('..');\nstart();",
        "test/deep/b.js": "require('../../').start();",
        "lib/c.js": "require('../sub');",
        "sub/package.json": '{"main":"./src"}',
        "sub/src/index.js": "",
      },
    ],
    [
      "the main file that a build makes",
      { "package.json": '{"main":"dist/main.js"}', "test/a.js": "require('..');" },
    ],
    [
      "types of a declaration file, which are exported implicitly",
      {
        "h.d.ts":
          "import { A } from './a';\ninterface B { a: A }\ndeclare const c: B;\ntype D = B;",
        "a.ts": "export interface A { x: 1 }",
        "i.ts": "import { B, c, type D } from './h';\nexport const b: B | D = c;",
      },
    ],
    [
      "a package that another manifest of the workspace names",
      {
        "package.json": '{"workspaces":["packages/*"]}',
        "packages/a/package.json": '{"name":"a","dependencies":{"left-pad":"1"}}',
        "packages/a/a.js": "",
        "test/a.js": "require('left-pad');",
      },
    ],
    [
      "comments and trailing commas in the settings of TypeDoc",
      { "typedoc.json": '{ // rules\n"a":1, }' },
    ],
  ])("finds nothing wrong with %s", async (_, files) => {
    expect(await errorsOf(files as Readonly<Record<string, string>>)).toEqual([]);
  });

  it.each([
    [
      "a name that the main file of a package does not export",
      {
        "package.json": '{"main":"main.js"}',
        "main.js": "exports.start = () => 1;",
        "test/a.js": "const { stop } = require('..');\nstop();",
      },
      ["error missing-export test/a.js:1"],
    ],
    [
      "a main file that is not there",
      { "sub/package.json": '{"main":"."}', "a.js": "require('./sub');" },
      ["error missing-file a.js:1"],
    ],
    [
      "a type that a declaration file does not have",
      { "h.d.ts": "interface B {}", "i.ts": "import { C } from './h';\nexport type D = C;" },
      ["error missing-export i.ts:1"],
    ],
    [
      "a package that only a manifest of another program names",
      {
        "package.json": "{}",
        "other/package.json": '{"dependencies":{"left-pad":"1"}}',
        "a.js": "require('left-pad');",
      },
      ["error missing-dependency a.js:1"],
    ],
  ])("finds %s", async (_, files, expected) => {
    expect(await errorsOf(files as Readonly<Record<string, string>>)).toEqual(expected);
  });

  it("finds what the plan promises and is not there", async () => {
    const spec = { purpose: "", dependsOn: [], domIds: [] };
    const files = new Map([["a.js", "export const x = 1;"]]);
    const planned = [
      { ...spec, path: "a.js", exports: ["x"] },
      { ...spec, path: "b.js", exports: [] },
    ];
    const found = await checkConsistency(files, { files: planned });
    expect(found.map(({ severity, code, path }) => [severity, code, path])).toEqual([
      ["error", "missing-file", "b.js"],
    ]);
  });

  it("survives files that are anything", async () => {
    const odd = ["", "\0", "{", "</script>", "`${", "<".repeat(5_000), "(".repeat(2_000), "import"];
    const names = ["a.js", "a.ts", "a.html", "a.css", "package.json", "manifest.json"];
    for (const source of odd) {
      await expect(
        checkConsistency(new Map(names.map((name) => [name, source]))),
      ).resolves.toBeDefined();
    }
  });

  it.each([
    ["a list of 100,000 numbers", "a.js", `export const list = [${"1,".repeat(100_000)}];\n`],
    ["70,000 statements", "a.js", "void 0;\n".repeat(70_000)],
    ["a page of 100,000 elements", "a.html", "<br>".repeat(100_000)],
  ])("finds nothing in %s", async (_, path, source) => {
    expect(await errorsOf({ [path]: source })).toEqual([]);
  });

  it("finds each of 50,000 faults of a page", async () => {
    expect(await errorsOf({ "a.html": '<img src="b.png">'.repeat(50_000) })).toHaveLength(50_000);
  });

  // Work that grows with the square of the length would not be done within the time limit of a
  // test.
  it.each([
    ["hyphens", "a.css", "-".repeat(1_000_000)],
    ["addresses without an end", "a.css", "url(".repeat(250_000)],
    ["a string without an end", "a.css", '"\\'.repeat(500_000)],
    ["a string of JSON without an end", "tsconfig.json", '"\\'.repeat(500_000)],
    ["comments in JSON without an end", "tsconfig.json", "/* ".repeat(300_000)],
  ])("is done with %s", async (_, path, source) => {
    await expect(errorsOf({ [path]: source })).resolves.toBeDefined();
  });
});
