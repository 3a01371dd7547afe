import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { ScriptedAnswer } from "../../../agent/test/model-server.ts";
import { manyFiles, projectScript } from "../../../agent/test/project-script.ts";
import { startCommand, startServer, temporaryFolder } from "./command-process.ts";

const slow = { timeout: 60_000 };
const parts = manyFiles(3);
const silence = (match: string): ScriptedAnswer => ({
  match: [match],
  fault: { kind: "silence" },
});
const overloaded = { status: 503, headers: { "retry-after": "120" } };
const hanging = new Map([
  ["package.json", '{"name":"hanging","type":"module","private":true}\n'],
  ["main.test.js", 'import { test } from "node:test";\ntest("ends", () => { for (;;); });\n'],
]);

/** The children of a process and theirs, each as its number and its command line. */
function processesUnder(pid: number | undefined): readonly string[] {
  const parents = new Map<string, { readonly parent: string; readonly command: string }>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      const [, parent = ""] = /\) \w (\d+) /.exec(readFileSync(`/proc/${name}/stat`, "utf8")) ?? [];
      const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ");
      parents.set(name, { parent, command });
    } catch {
      // It ended in the meantime.
    }
  }
  const found = new Set([String(pid)]);
  for (const from of found) {
    for (const [name, { parent }] of parents) if (parent === from) found.add(name);
  }
  found.delete(String(pid));
  return [...found].map((name) => `${name} ${parents.get(name)?.command ?? ""}`);
}

describe("Ctrl-C", slow, () => {
  it.each([
    ["the plan is awaited", projectScript(parts, { first: [silence("# Plan\n")] }), 1],
    [
      "a file is awaited",
      projectScript(parts, { first: [silence("Answer with the source of src/part-1.js.")] }),
      5,
    ],
    [
      "the model's server wants to be left alone",
      projectScript(parts, {
        first: [{ ...silence("# Plan\n"), fault: { kind: "status", ...overloaded } }],
      }),
      1,
    ],
  ] as const)(
    "while %s ends the run with 130 at once, and says how to go on",
    async (_, answers, asked) => {
      const cwd = temporaryFolder();
      const models = await startServer({ answers: [...answers] });
      const env = { FETCHWORK_BASE_URL: models.baseUrl, FETCHWORK_MODEL: "scripted" };
      const { child, ended } = startCommand(["agent", "three parts", "--json"], { cwd, env });
      await vi.waitUntil(async () => (await models.requests()).length >= asked, {
        timeout: 40_000,
        interval: 50,
      });
      child.kill("SIGINT");
      const { code, stderr, stdout } = await ended;
      expect(code).toBe(130);
      expect(stderr).toMatch(
        /interrupted\nResume with: fetchwork agent resume \S+ --out generated/,
      );
      const last: unknown = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
      expect(last).toMatchObject({ type: "failed", message: "interrupted" });
    },
  );

  it("while the program's tests run stops them too", async () => {
    const cwd = temporaryFolder();
    const models = await startServer({ answers: projectScript(hanging) });
    const env = { FETCHWORK_BASE_URL: models.baseUrl, FETCHWORK_MODEL: "scripted" };
    const args = ["agent", "a program", "--verify", "--debug", "--out", "here"];
    const { child, ended } = startCommand(args, { cwd, env });
    await vi.waitUntil(async () => (await models.requests()).length >= 4, {
      timeout: 40_000,
      interval: 50,
    });
    const running = (): readonly string[] => processesUnder(child.pid);
    const isTesting = (): boolean => running().some((line) => line.includes("--test"));
    await vi.waitUntil(isTesting, { timeout: 40_000, interval: 50 });
    const tests = running();
    child.kill("SIGINT");
    const { code, stderr } = await ended;
    expect([code, stderr.includes("Resume with: fetchwork agent resume")]).toEqual([130, true]);
    const left = (): boolean => tests.some((line) => existsSync(`/proc/${line.split(" ")[0]}/exe`));
    await vi.waitUntil(() => !left(), { timeout: 10_000, interval: 50 });
  });

  it("while standard input is read stops the command", async () => {
    const cwd = temporaryFolder();
    const main = join(import.meta.dirname, "../../src/main.ts");
    const source = "--conditions=@fetchwork/source";
    const child = spawn(process.execPath, [source, main, "agent", "--prompt", "-"], {
      cwd,
      env: {
        PATH: process.env["PATH"] ?? "",
        NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
        FETCHWORK_BASE_URL: "http://127.0.0.1:9/v1",
      },
      stdio: ["pipe", "inherit", "pipe"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
    const ended = new Promise((resolve) => child.once("close", resolve));
    // More than a pipe holds: anyone who took it reads.
    await new Promise<void>((resolve) => child.stdin.write("x".repeat(300_000), () => resolve()));
    child.kill("SIGINT");
    expect(await ended).toBe(130);
    expect(said).toBe("fetchwork agent: interrupted\n");
  });
});
