import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { fingerprintOf, type Diagnostic } from "../src/check/diagnostic.ts";
import { commandCheck, packageScripts } from "../src/verify/commands.ts";
import { createSandbox } from "../src/verify/sandbox.ts";
import type { Verifier } from "../src/verify/verifier.ts";
import { verifyFiles } from "../src/verify/verify-files.ts";

const sandbox = await createSandbox();
const { signal } = new AbortController();
const from = mkdtempSync(join(tmpdir(), "commands-"));
mkdirSync(join(from, "node_modules/.bin"), { recursive: true });
writeFileSync(join(from, "node_modules/.bin/lint"), "#!/bin/sh\necho 'a.txt: wrong'\nexit 1\n", {
  mode: 0o755,
});
afterAll(() => rmSync(from, { recursive: true }));

async function faultsOf(
  verifier: Verifier,
  files: Readonly<Record<string, string>>,
  folder?: string,
): Promise<readonly Diagnostic[]> {
  const run = { verifiers: [verifier], sandbox, signal, from: folder };
  return verifyFiles(new Map(Object.entries(files)), undefined, run);
}

describe("commandCheck", () => {
  it.each([
    ["", "ERR_AGENT_ARGUMENT"],
    ["x".repeat(10_001), "ERR_AGENT_OPTION"],
    ["a\0b", "ERR_AGENT_OPTION"],
  ])("refuses %j", (command, code) => {
    expect(() => commandCheck(command)).toThrow(expect.objectContaining({ code }));
  });

  it("refuses a wrong time limit", () => {
    expect(() => commandCheck("true", { timeout: 0 })).toThrow("timeout");
  });

  it("finds nothing when the command exits with 0, whatever it prints", async () => {
    const fake = "echo 'not ok 1 - fake'; echo '--- FAIL: TestFake (0.00s)'";
    expect(await faultsOf(commandCheck(fake), { "a.txt": "a" })).toEqual([]);
  });

  it("reports one fault with the last 20 lines of a command that fails", async () => {
    const command = "seq 1 200000; echo 'src/a.txt:7 is wrong' >&2; exit 3";
    const files = { "b.txt": "b", "src/a.txt": "a" };
    const [fault, ...more] = await faultsOf(commandCheck(command), files);
    expect(more).toEqual([]);
    expect(fault).toMatchObject({ path: "src/a.txt", line: 7, severity: "error" });
    expect(fault?.message).toContain("ended with 3 | 199982 |");
    expect(fault?.message).not.toContain("199981");
  });

  it("ends a command at its time limit", async () => {
    const [fault] = await faultsOf(commandCheck("sleep 60", { timeout: 700 }), { "a.txt": "a" });
    expect(fault?.message).toBe("sleep 60 took too long");
  });

  it("reports the same fault again with the same fingerprint", async () => {
    const command =
      "date +%s%N > /dev/null; echo $(pwd)/a.txt failed after $(date +%N | cut -c 8)ms " +
      "at $(date -u +%Y-%m-%dT%H:%M:%SZ) in $(mktemp) $(cat /proc/sys/kernel/random/uuid); exit 1";
    const twice = [
      await faultsOf(commandCheck(command), { "a.txt": "a" }),
      await faultsOf(commandCheck(command), { "a.txt": "a" }),
    ].flat();
    expect(new Set(twice.map(fingerprintOf)).size).toBe(1);
  });

  it("keeps what a terminal would obey out of messages, and takes 100 MB of output", async () => {
    const command = "printf '\\033[31mError\\033[0m \\007\\n'; head -c 100000000 /dev/zero; exit 1";
    const [fault] = await faultsOf(commandCheck(command), { "a.txt": "a" });
    expect(fault?.message).not.toMatch(/\p{Cc}/u);
  }, 30_000);
});

describe("packageScripts", () => {
  const manifest = (scripts: object, more: object = {}): Record<string, string> => ({
    "package.json": JSON.stringify({ name: "a", scripts, ...more }),
    "a.txt": "a",
  });
  const needing = { devDependencies: { lint: "1.0.0" } };

  it.each([
    ["npm's placeholder", { test: 'echo "Error: no test specified" && exit 1' }],
    ["what nodeTest runs", { test: "node --test" }],
    ["other scripts", { build: "exit 1", start: "exit 1", deploy: "exit 1" }],
    ["scripts that are no text", { test: 1, lint: ["x"], typecheck: null }],
  ])("leaves out %s", (_case, scripts) => {
    expect(packageScripts().applies(new Map(Object.entries(manifest(scripts))))).toBe(false);
  });

  it("says that scripts were not checked whose packages are not installed", async () => {
    const files = manifest({ test: "vitest", lint: "lint" }, needing);
    expect(await faultsOf(packageScripts(), files)).toEqual([
      {
        path: "package.json",
        code: "verification",
        severity: "warning",
        message: "not checked: lint, test: the packages are not installed",
      },
    ]);
  });

  it("says that a script was not checked whose command is not installed", async () => {
    const files = manifest({ test: "no-such-runner" }, needing);
    const [fault] = await faultsOf(packageScripts(), files, from);
    expect(fault).toMatchObject({ severity: "warning" });
    expect(fault?.message).toContain("not checked: npm run test");
  });

  it("runs scripts with the packages that are installed", async () => {
    const files = manifest({ lint: "lint", typecheck: "true" }, needing);
    const found = await faultsOf(packageScripts(), files, from);
    expect(found).toMatchObject([{ path: "a.txt", severity: "error" }]);
    expect(found[0]?.message).toMatch(/^npm run lint ended with 1 .*a\.txt: wrong/);
  });

  it("runs a script of 10,000 characters", async () => {
    const files = manifest({ test: `: ${"x".repeat(10_000)}; exit 1` });
    const [fault] = await faultsOf(packageScripts(), files);
    expect(fault?.message.length).toBeLessThanOrEqual(1_500);
    expect(fault).toMatchObject({ severity: "error" });
  });
});
