import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "..");
const config = `export default {
  tsconfig: ${JSON.stringify(join(root, "tsconfig.base.json"))},
  test: {
    globals: true,
    reporters: ["default", ${JSON.stringify(join(root, "scripts/plain-summary-reporter.ts"))}],
  },
};`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "plain summary "));
  writeFileSync(join(folder, "vitest.config.mjs"), config);
});
afterEach(() => rmSync(folder, { recursive: true }));

function runVitest(files: Readonly<Record<string, string>>): {
  status: number | null;
  lastLine: string;
} {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const run = spawnSync(process.execPath, [vitest, "run", "--root", folder], {
    encoding: "utf8",
    env: { ...process.env, CI: "true" },
  });
  return { status: run.status, lastLine: run.stdout.replace(/\n$/, "").split("\n").at(-1) ?? "" };
}

describe("PlainSummaryReporter", () => {
  it("counts the tests that passed, with exit code 0", () => {
    const run = runVitest({ "a.test.ts": "it('a', () => {}); it('b', (): void => {});" });
    expect(run).toEqual({ status: 0, lastLine: "2 passed, 0 failed" });
  });

  it("counts tests, files that do not load and suites whose hooks throw, with exit code 1", () => {
    const run = runVitest({
      "passes.test.ts": "it('a', () => {}); it.skip('b', () => {});",
      "fails.test.ts": "it('a', () => expect(1).toBe(2));",
      "loads-not.test.ts": "import './missing.ts'; it('a', () => {});",
      "hook.test.ts":
        "describe('a', () => { beforeAll(() => { throw new Error('x') }); it('b', () => {}); });",
      "unhandled.test.ts":
        "it('a', async () => { Promise.reject(new Error('x')); await new Promise(setImmediate); });",
    });
    expect(run).toEqual({ status: 1, lastLine: "2 passed, 4 failed, 2 skipped" });
  });

  it("reports 0 passed, 0 failed without any test, with exit code 1", () => {
    expect(runVitest({})).toEqual({ status: 1, lastLine: "0 passed, 0 failed" });
  });
});
