import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { root } from "../scripts/workspace-packages.ts";

const launcher = join(root, "scripts/with-environment.mjs");

/** With `execve`, and as on Windows, which has none. */
const platforms = [
  { platform: "with execve", before: [] },
  {
    platform: "without execve",
    before: ["--import", "data:text/javascript,process.execve = undefined"],
  },
];

describe.each(platforms)("with-environment.mjs $platform", ({ before }) => {
  it("passes variables, arguments and the exit code", () => {
    const program = "console.log(process.env.A, process.env.B, process.argv[1]); process.exit(7)";
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [...before, launcher, "A=1", "B=x=y z", "--", "-e", program, "word"],
      { encoding: "utf8" },
    );
    expect({ status, stdout, stderr }).toEqual({ status: 7, stdout: "1 x=y z word\n", stderr: "" });
  });

  it("lets the program end in order after SIGTERM", async () => {
    const program = `
      process.once("SIGTERM", () => setTimeout(() => { console.log("closed"); process.exit(3); }, 50));
      setInterval(() => {}, 1000);
      console.log(process.pid);`;
    const child = spawn(process.execPath, [...before, launcher, "--", "-e", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    let output = "";
    const closed = once(child, "close");
    await new Promise<void>((resolve) => {
      child.stdout.on("data", (data: Buffer) => {
        output += data.toString();
        resolve();
      });
    });
    child.kill("SIGTERM");
    await expect(closed).resolves.toEqual([3, null]);
    const [pid, last] = output.trim().split("\n");
    expect(last).toBe("closed");
    // Where the launcher can become the program, it is not a second process.
    expect(Number(pid) === child.pid).toBe(before.length === 0);
  });
});

it("with-environment.mjs says how to use it when nothing separates the variables", () => {
  const { status, stderr } = spawnSync(process.execPath, [launcher, "A=1"], { encoding: "utf8" });
  expect(status).toBe(2);
  expect(stderr).toContain("usage");
});
