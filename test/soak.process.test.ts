import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { noPostgres } from "../packages/documents/test/postgres-server.ts";
import { root } from "../scripts/workspace-packages.ts";

const engines = ["sqlite", ...(noPostgres === undefined ? ["postgres"] : [])];

function runSoak(args: readonly string[]): {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
} {
  const command = ["--conditions=@fetchwork/source", "scripts/soak/index.ts", ...args];
  return spawnSync(process.execPath, command, { cwd: root, encoding: "utf8" });
}

// A busy machine starts the processes slowly.
it.each(engines)(
  "the data is what was acknowledged after 10 s of the soak on %s",
  { timeout: 240_000 },
  (engine) => {
    const seed = String(Date.now() % 1e6);
    const args = ["--minutes", "0.17", "--engine", engine, "--seed", seed];
    const { status, stdout, stderr } = runSoak(args);
    // What differs is in the output.
    expect([status, status === 0 ? "" : stdout + stderr]).toEqual([0, ""]);
    expect(stdout).toContain("all is as acknowledged");
    // Something was compared.
    expect(stdout).toMatch(/each acknowledged transfer is there as it was sent \| [1-9]\d* \| 0 /);
  },
);

it.each([
  [["--engine", "mysql"], "--engine must be one of sqlite, postgres, got mysql"],
  [["--minutes", "0"], "--minutes must be above 0 and at most 10000, got 0"],
  [["--seed", "x"], "--seed must be a whole number, got x"],
])("the soak refuses %j", (args, message) => {
  const { status, stderr } = runSoak(args);
  expect([status, stderr]).toEqual([2, `${message}\n`]);
});
