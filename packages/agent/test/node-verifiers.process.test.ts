import { describe, expect, it } from "vitest";
import { fingerprintOf, type Diagnostic } from "../src/check/diagnostic.ts";
import { nodeTest, typeCheck } from "../src/verify/node-verifiers.ts";
import { createSandbox } from "../src/verify/sandbox.ts";
import type { Verifier } from "../src/verify/verifier.ts";
import { verifyFiles } from "../src/verify/verify-files.ts";

const sandbox = await createSandbox();
const { signal } = new AbortController();

/** What a verifier says about files that the check without running finds nothing wrong with. */
async function faultsOf(
  verifier: Verifier,
  files: Readonly<Record<string, string>>,
): Promise<readonly Diagnostic[]> {
  const project = new Map(Object.entries(files));
  expect(await verifyFiles(project, undefined, undefined)).toEqual([]);
  expect(verifier.applies(project)).toBe(true);
  return verifyFiles(project, undefined, { verifiers: [verifier], sandbox, signal });
}

describe("typeCheck", () => {
  const config = (options: object = {}): string =>
    JSON.stringify({
      compilerOptions: { strict: true, types: [], ...options },
      include: ["**/*.ts"],
    });

  it("finds wrong types, in files with any name", async () => {
    const found = await faultsOf(typeCheck(), {
      "tsconfig.json": config(),
      "src/a.ts": "export const a: number = 1;\n\nexport const b: number = 'x';\n",
      "app/(site)/with blank.ts": "export const c: string = 1;\n",
    });
    const said = found.map(({ path, line, code, severity, message }) => [
      path,
      line,
      code,
      severity,
      message.slice(0, 6),
    ]);
    expect(said.toSorted(([a], [b]) => String(a).localeCompare(String(b)))).toEqual([
      ["app/(site)/with blank.ts", 1, "verification", "error", "TS2322"],
      ["src/a.ts", 3, "verification", "error", "TS2322"],
    ]);
  }, 60_000);

  it("finds nothing wrong with what is right, and does not check what it has no types for", async () => {
    const right = { "tsconfig.json": config(), "a.ts": "export const a: number = 1;\n" };
    expect(await faultsOf(typeCheck(), right)).toEqual([]);
    const untyped = {
      path: "tsconfig.json",
      code: "verification",
      message: "not checked: tsc: types of packages are not installed",
      severity: "warning",
    };
    const withPackage = {
      "tsconfig.json": config(),
      "package.json": '{ "name": "a", "dependencies": { "express": "5.1.0" } }\n',
      "a.ts":
        "import express from 'express';\n\nexpress().get('/', (request, response) => response.end(request.url));\n",
    };
    expect(await faultsOf(typeCheck(), withPackage)).toEqual([untyped]);
    const withNode = {
      "tsconfig.json": config(),
      "a.ts": "import { readFileSync } from 'node:fs';\n\nreadFileSync('x', (y) => y);\n",
    };
    expect(await faultsOf(typeCheck(), withNode)).toEqual([untyped]);
  }, 60_000);

  it("names the configuration when that is what is wrong", async () => {
    const [found] = await faultsOf(typeCheck(), {
      "tsconfig.json": config({ module: "nothing" }),
      "a.ts": "export const a = 1;\n",
    });
    expect(found).toMatchObject({ path: "tsconfig.json", severity: "error" });
    expect(found?.message).toContain("--module");
  }, 60_000);

  it("does not apply without a configuration", () => {
    expect(typeCheck().applies(new Map([["a.ts", ""]]))).toBe(false);
  });
});

describe("nodeTest", () => {
  const module = (by: number): string => `export const half = (n) => n / ${by};\n`;
  const about = (name: string, before = ""): string =>
    `import assert from "node:assert/strict";\nimport { test } from "node:test";\n` +
    `import { half } from "../src/${name}.js";\n${before}\n` +
    `test("halves in ${name}", () => {\n  assert.equal(half(4), 2);\n});\n`;
  const two = {
    "package.json": '{ "name": "a", "type": "module" }\n',
    "src/one.js": module(4),
    "src/two.js": module(8),
    "test/one.test.js": about("one"),
    "test/two.test.js": about("two"),
  };

  it("reports each test that fails, so that each repair is seen", async () => {
    const found = await faultsOf(nodeTest(), two);
    expect(found.map(({ path, related }) => [path, related])).toEqual([
      ["src/one.js", "test/one.test.js"],
      ["src/two.js", "test/two.test.js"],
    ]);
    expect(found[0]?.message).toMatch(/"halves in one".*expected: 2.*actual: 1/);
    expect(new Set(found.map(fingerprintOf)).size).toBe(2);
    const repaired = { ...two, "src/one.js": module(2) };
    expect((await faultsOf(nodeTest(), repaired)).map(fingerprintOf)).toEqual(
      found.slice(1).map(fingerprintOf),
    );
  }, 30_000);

  it("takes no result from what a test prints", async () => {
    const noise = `console.log("not ok 1 - fake\\n✖ fake (1ms)\\n" + JSON.stringify(["fake", "x", "", ""]));
process.stdout.write("\\u001b[31m" + "x".repeat(1e8) + "\\n");`;
    const found = await faultsOf(nodeTest(), { ...two, "test/one.test.js": about("one", noise) });
    expect(found.map(({ path }) => path)).toEqual(["src/one.js", "src/two.js"]);
    expect(found.some(({ message }) => message.includes("fake"))).toBe(false);
  }, 60_000);

  it("reports 30 tests at most", async () => {
    const tests = Array.from(
      { length: 40 },
      (_, n) => `test("t${n}", () => { throw new Error("e${n}"); });\n`,
    );
    const text = `import { test } from "node:test";\n${tests.join("")}`;
    expect(await faultsOf(nodeTest(), { "a.test.mjs": text })).toHaveLength(30);
  });

  it("leaves tests to the runner that package.json names", () => {
    const manifest = '{ "scripts": { "test": "vitest run" } }';
    const files = new Map([
      ["package.json", manifest],
      ["a.test.js", 'import { it } from "vitest";\n'],
    ]);
    expect(nodeTest().applies(files)).toBe(false);
    files.set("b.test.js", 'import { it } from "node:test";\n');
    expect(nodeTest().applies(files)).toBe(true);
  });

  it("names the file behind a test that fails, not what came with Node", async () => {
    const found = await faultsOf(nodeTest(), {
      "package.json": '{ "name": "a", "type": "module" }\n',
      "src/half.js":
        "export function half(n) {\n  if (n % 2) throw new RangeError('odd');\n  return n / 2;\n}\n",
      "test/half.test.js":
        "import { test } from 'node:test';\nimport { half } from '../src/half.js';\n\ntest('halves', () => {\n  half(3);\n});\n",
    });
    expect(found).toMatchObject([
      { path: "src/half.js", line: 2, related: "test/half.test.js", severity: "error" },
    ]);
    expect(found[0]?.message).toContain("odd");
  });

  const half = "export function half(n: number): number {\n  return n / 3;\n}\n";
  const halves = (name: string): string =>
    "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\n" +
    `import { half } from '${name}';\n\ntest('halves', () => {\n  assert.equal(half(4), 2);\n});\n`;

  it("runs tests in TypeScript, and names the file that one of them is about", async () => {
    const found = await faultsOf(nodeTest(), {
      "package.json": '{ "name": "a", "type": "module" }\n',
      "src/half.ts": half,
      "src/half.test.ts": halves("./half.ts"),
    });
    expect(found).toMatchObject([
      { path: "src/half.ts", related: "src/half.test.ts", severity: "error" },
    ]);
    const right = {
      "package.json": '{ "name": "a", "type": "module" }\n',
      "src/half.ts": half.replace("3", "2"),
      "src/half.test.ts": halves("./half.ts"),
    };
    expect(await faultsOf(nodeTest(), right)).toEqual([]);
  });

  it.each([
    ["imports the file that a compiler would write", half, halves("../src/half.js")],
    [
      "uses what is more than types",
      `${half}export enum Kind {\n  A,\n}\n`,
      halves("../src/half.ts"),
    ],
  ])("says that TypeScript was not checked that %s", async (_case, source, test) => {
    const project = { "src/half.ts": source, "test/half.test.ts": test };
    expect(await faultsOf(nodeTest(), project)).toEqual([
      {
        path: "test/half.test.ts",
        code: "verification",
        message: "not checked: node --test: it cannot be loaded without a compiler",
        severity: "warning",
      },
    ]);
  });
});
