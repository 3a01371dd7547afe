import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { noPostgres } from "../packages/documents/test/postgres-server.ts";
import { root } from "../scripts/workspace-packages.ts";

const engines = ["sqlite", ...(noPostgres === undefined ? ["postgres"] : [])];

// A busy machine starts the processes slowly.
it.each(engines)(
  "the data is what was acknowledged after 20 s of the soak on %s",
  { timeout: 240_000 },
  (engine) => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [
        "--conditions=@fetchwork/source",
        "scripts/soak/index.ts",
        ...["--minutes", "0.33", "--engine", engine, "--seed", String(Date.now() % 1e6)],
      ],
      { cwd: root, encoding: "utf8" },
    );
    expect(status, stdout + stderr).toBe(0);
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
  const { status, stderr } = spawnSync(
    process.execPath,
    ["--conditions=@fetchwork/source", "scripts/soak/index.ts", ...args],
    { cwd: root, encoding: "utf8" },
  );
  expect([status, stderr]).toEqual([2, `${message}\n`]);
});
