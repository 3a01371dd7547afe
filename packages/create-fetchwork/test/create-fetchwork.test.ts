import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";

const program = join(import.meta.dirname, "../bin/create-fetchwork.mjs");

function createFetchwork(...args: readonly string[]): {
  readonly folder: string;
  readonly status: number | null;
  readonly output: string;
} {
  const folder = mkdtempSync(join(tmpdir(), "create-fetchwork-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    cwd: folder,
    encoding: "utf8",
  });
  return { folder, status, output: stdout + stderr };
}

describe("create-fetchwork", () => {
  it("makes a project with the options of `fetchwork new`", () => {
    const quiet = ["--yes", "--packages", "registry", "--skip-install", "--skip-git"];
    const { folder, status, output } = createFetchwork("shop", ...quiet, "--port", "8123");
    expect({ status, output }).toMatchObject({ status: 0 });
    const manifest: unknown = JSON.parse(readFileSync(join(folder, "shop/package.json"), "utf8"));
    expect(manifest).toMatchObject({ name: "shop", scripts: { test: "vitest run" } });
    expect(readFileSync(join(folder, "shop/src/config.ts"), "utf8")).toContain("8123");
  });

  it("returns the exit code of `fetchwork new`, and writes nothing, for an invalid option", () => {
    const { folder, status, output } = createFetchwork("shop", "--port", "http");
    expect(status).toBe(2);
    expect(output).toContain("port");
    expect(existsSync(join(folder, "shop"))).toBe(false);
  });
});
