import { expect, it } from "vitest";
import { coverageOf } from "../src/verify/coverage.ts";
import { nodeTest } from "../src/verify/node-verifiers.ts";
import { pythonCheck } from "../src/verify/language-verifiers.ts";
import type { Verifier } from "../src/verify/verifier.ts";

const program = new Map([
  ["main.py", "print(1)\n"],
  ["main.go", "package main\n"],
  ["Dockerfile", "FROM scratch\n"],
  ["app/__init__.py", ""],
  ["README.md", "# A\n"],
  ["LICENSE", "MIT\n"],
  [".gitignore", "*.pyc\n"],
  ["index.html", "<!doctype html><title>A</title>\n"],
  ["package.json", "{}\n"],
  ["a.test.js", "\n"],
]);

it("the check knows which sources it cannot find faults in, and does not count texts and empty files", () => {
  expect(coverageOf(program)).toEqual({
    checked: 3,
    unchecked: ["main.py", "main.go", "Dockerfile"],
  });
});

it("what runs tests in JavaScript checks no Python", () => {
  expect(coverageOf(program, [nodeTest()])).toEqual(coverageOf(program));
});

it("a verifier of one's own checks every file, or those that it says", () => {
  const own: Verifier = { name: "pytest", applies: () => true, check: () => Promise.resolve([]) };
  expect(coverageOf(program, [own]).unchecked).toEqual([]);
  const python: Verifier = { ...own, reads: (path) => path.endsWith(".py") };
  expect(coverageOf(program, [python]).unchecked).toEqual(["main.go", "Dockerfile"]);
  expect(coverageOf(program, [{ ...own, applies: () => false }]).unchecked).toHaveLength(3);
});

it("what compiles Python checks each file of it", () => {
  const [syntax] = pythonCheck();
  if (syntax?.applies(program) !== true) return;
  expect(coverageOf(program, [syntax])).toMatchObject({ unchecked: ["main.go", "Dockerfile"] });
});
