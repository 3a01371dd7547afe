import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { createSandbox } from "@fetchwork/agent";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "./command-process.ts";

const main = join(import.meta.dirname, "../../src/main.ts");
const isRefused = await createSandbox().then(
  () => false,
  () => true,
);

/** A folder that the command may write to, also as root: it belongs to somebody else. */
function folder(): string {
  const place = temporaryFolder();
  chmodSync(place, 0o755);
  mkdirSync(join(place, ".git/hooks"), { recursive: true });
  mkdirSync(join(place, "node_modules"));
  if (process.getuid?.() === 0) {
    for (const path of ["", ".git", ".git/hooks", "node_modules"])
      chownSync(join(place, path), 65_534, 65_534);
  }
  return place;
}

async function run(cwd: string, args: readonly string[], input = "") {
  const child = spawn(
    process.execPath,
    ["--conditions=@fetchwork/source", main, "sandbox", ...args],
    { cwd, env: { ...process.env, SECRET_OF_OURS: "s3cret" } },
  );
  child.stdin.end(input);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close") as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr };
}

it.runIf(process.env["CI"] === "true")("this machine can seal where all tests must run", () => {
  expect(isRefused).toBe(false);
});

describe.skipIf(isRefused)("fetchwork sandbox", { timeout: 60_000 }, () => {
  it("passes input, output and the exit code through, and lets the command write to the folder", async () => {
    const place = folder();
    const command = ["sh", "-c", "tr a-z A-Z | tee made.txt; echo told >&2; exit 7"];
    const done = await run(place, ["--", ...command], "hello");
    expect(done).toMatchObject({ code: 7, stdout: "HELLO" });
    expect(done.stderr).toContain("told");
    expect(readFileSync(join(place, "made.txt"), "utf8")).toBe("HELLO");
  });

  it.each([
    ["its packages", "echo x > node_modules/x.js", "node_modules/x.js"],
    ["the hooks of git", "echo x > .git/hooks/pre-commit", ".git/hooks/pre-commit"],
    ["what lies outside", "echo x > ../outside.txt", "../outside.txt"],
  ])("does not let the command change %s", async (_, script, path) => {
    const place = folder();
    await run(place, ["--", "sh", "-c", script]);
    expect(existsSync(join(place, path))).toBe(false);
  });

  it("shows no variable of ours and no network but loopback", async () => {
    const { stdout } = await run(folder(), ["--", "sh", "-c", "env; cat /proc/net/dev"]);
    expect(stdout).not.toContain("s3cret");
    expect(stdout.match(/^\s*(\w+):/gm)?.map((name) => name.trim())).toEqual(["lo:"]);
  });

  it("keeps the folder as it is with --read-only", async () => {
    const place = folder();
    writeFileSync(join(place, "a.txt"), "mine\n");
    const script = "cat a.txt; echo yours > a.txt";
    const done = await run(place, ["--read-only", "--", "sh", "-c", script]);
    expect(done.stdout).toBe("mine\n");
    expect(done.code).not.toBe(0);
    expect(readFileSync(join(place, "a.txt"), "utf8")).toBe("mine\n");
  });

  it("ends a command after --timeout with 124", async () => {
    const started = Date.now();
    const done = await run(folder(), ["--timeout", "1s", "--", "sleep", "50"]);
    expect(done.code).toBe(124);
    expect(done.stderr).toContain("timed out");
    expect(Date.now() - started).toBeLessThan(30_000);
  });

  it("limits the heap of Node with --memory", async () => {
    const script = "const kept = []; for (;;) kept.push(new Array(1e5).fill({}).map(() => ({})))";
    const command = ["--memory", "64", "--", process.execPath, "-e", script];
    const { code, stderr } = await run(folder(), command);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/heap|memory/i);
  });
});

it.each([
  [["--memory", "none", "--", "true"], "memory"],
  [["--timeout", "soon", "--", "true"], "timeout"],
  [[], "command"],
])("fetchwork sandbox refuses %j with exit code 2", async (args, said) => {
  const { code, stderr } = await run(temporaryFolder(), args);
  expect(code).toBe(2);
  expect(stderr).toContain(said);
});
