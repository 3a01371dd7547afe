import type { ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectScript } from "../../../agent/test/project-script.ts";
import { readSample } from "../../../agent/test/sample-projects.ts";
import { commands } from "../../src/commands.ts";
import { runCommand } from "../../src/command/run-command.ts";
import { memoryIo } from "../memory-io.ts";
import { startCommand, startServer, temporaryFolder } from "./command-process.ts";

const notes = readSample(join(import.meta.dirname, "notes-service.txt"));

describe("fetchwork agent serve", () => {
  it.each([
    [["--verify", "all"], 2, "--verify must be one of none, static, run"],
    [["--port", "70000"], 2, "--port must be a whole number"],
    [["--token-file", "missing"], 2, 'cannot read the secret file "missing"'],
    [["--host", "0.0.0.0"], 2, "set a token with FETCHWORK_AGENT_TOKEN or --token-file"],
    [["--token-file", "short"], 2, "16 to 4,096 visible ASCII characters"],
  ])("refuses %j", async (args, code, message) => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, "short"), "short-secret\n");
    const env = { FETCHWORK_BASE_URL: "http://127.0.0.1:9/v1" };
    const io = memoryIo({ cwd, env, signal: AbortSignal.abort() });
    const all = ["agent", "serve", ...args];
    expect(await runCommand(commands, { args: all, io })).toBe(code);
    expect(io.written.stderr).toContain(message);
    expect(io.written.stderr).not.toContain("short-secret");
  });

  it("refuses an address of the network without a token before a model is looked for", async () => {
    const io = memoryIo({ cwd: temporaryFolder() });
    const args = ["agent", "serve", "--host", "0.0.0.0"];
    expect(await runCommand(commands, { args, io })).toBe(2);
  });

  it("exits with 5 without a provider", async () => {
    const io = memoryIo({ cwd: temporaryFolder() });
    expect(await runCommand(commands, { args: ["agent", "serve"], io })).toBe(5);
  });

  it("runs a task step by step, requires the token, and stops on a signal", async () => {
    const cwd = temporaryFolder();
    const models = await startServer({ answers: projectScript(notes) });
    const token = "0123456789abcdef-token";
    writeFileSync(join(cwd, "token"), `${token}\n`);
    const args = ["agent", "serve", "--port", "0", "--token-file", "token"];
    const env = { FETCHWORK_BASE_URL: models.baseUrl, FETCHWORK_MODEL: "scripted" };
    const { child, ended } = startCommand(args, { cwd, env });
    const base = await addressOf(child);
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const ask = async (path: string, init: RequestInit = {}): Promise<Response> =>
      fetch(`${base}${path}`, { ...init, headers });
    expect((await fetch(`${base}agent/tasks`)).status).toBe(401);
    const created = await ask("agent/tasks", { method: "POST", body: '{"input":"notes"}' });
    const { task_id: id } = (await created.json()) as { readonly task_id: string };
    const names: string[] = [];
    for (let last = false; !last;) {
      const step = await ask(`agent/tasks/${id}/steps`, { method: "POST" });
      expect(step.status).toBe(200);
      const { name, is_last } = (await step.json()) as {
        readonly name: string;
        readonly is_last: boolean;
      };
      names.push(name);
      last = is_last;
    }
    expect(names).toHaveLength(notes.size + 2);
    child.kill("SIGINT");
    expect(await ended).toMatchObject({ code: 0 });
    expect((await ended).stderr).not.toContain(token);
  }, 60_000);

  it("runs a --check after the last file, as --verify run does", async () => {
    const cwd = temporaryFolder();
    const models = await startServer({ answers: projectScript(notes) });
    const args = ["agent", "serve", "--port", "0", "--repair", "0", "--check", "exit 3"];
    const env = { FETCHWORK_BASE_URL: models.baseUrl, FETCHWORK_MODEL: "scripted" };
    const { child, ended } = startCommand(args, { cwd, env });
    const tasks = `${await addressOf(child)}agent/tasks`;
    const created = await fetch(tasks, { method: "POST", body: '{"input":"notes"}' });
    const { task_id: id } = (await created.json()) as { readonly task_id: string };
    let text = "";
    while (!text.includes('"is_last":true')) {
      const step = await fetch(`${tasks}/${id}/steps`, { method: "POST" });
      expect(step.status).toBe(200);
      text = await step.text();
    }
    expect(text).toContain("exit 3 ended with 3");
    child.kill("SIGINT");
    expect(await ended).toMatchObject({ code: 0 });
  }, 60_000);
});

/** The address that a server prints when it listens. */
async function addressOf({ stderr }: ChildProcess): Promise<string> {
  let said = "";
  return new Promise((resolve) => {
    stderr?.on("data", (text: string) => {
      const [, url] = /Listening on ([^\s,]+\/)/.exec((said += text)) ?? [];
      if (url !== undefined) resolve(url);
    });
  });
}
