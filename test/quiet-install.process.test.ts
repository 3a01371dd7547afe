import { execFile } from "node:child_process";
import { copyFileSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { root } from "../scripts/workspace-packages.ts";

const execute = promisify(execFile);

/** Makes a folder with all that npm reads of a clone before it installs. */
function cloneToInstall(): string {
  const folder = mkdtempSync(join(tmpdir(), "quiet-install-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const files = "{package.json,package-lock.json,.npmrc,{packages,examples}/*/package.json}";
  for (const file of globSync(files, { cwd: root })) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    copyFileSync(join(root, file), join(folder, file));
  }
  return folder;
}

it.each(["v20.19.0", "v22.22.0", "v24.0.0", "v26.0.0"])(
  "npm install of a clone warns in at most five lines on Node %s",
  { timeout: 60_000 },
  async (version) => {
    const folder = cloneToInstall();
    // npm compares the engines of packages with this property.
    const value = JSON.stringify(version);
    const preload = join(folder, "version.cjs");
    writeFileSync(preload, `Object.defineProperty(process, "version", { value: ${value} });`);
    const { npm_config_loglevel: _level, ...env } = process.env;
    const { stdout, stderr } = await execute(
      "npm",
      ["install", "--dry-run", "--offline", "--ignore-scripts", "--no-audit", "--no-fund"],
      { cwd: folder, env: { ...env, NODE_OPTIONS: `--require ${preload}` } },
    );
    expect(stdout).toMatch(/^added \d+ packages/m);
    expect(stderr.split("\n").filter(Boolean).length).toBeLessThanOrEqual(5);
  },
);
