import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { editScript } from "../../../agent/test/edit-script.ts";
import { startModelServer, type ModelServer } from "../../../agent/test/model-server.ts";
import { commands } from "../../src/commands.ts";
import { runCommand } from "../../src/command/run-command.ts";
import { memoryIo } from "../memory-io.ts";
import { temporaryFolder } from "./command-process.ts";

let server: ModelServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** A repository with one file, and the command in it with a model that changes the file. */
async function repository(replace: string) {
  const cwd = temporaryFolder();
  const git = (...args: string[]): string =>
    execFileSync("git", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  git("init", "-q");
  git("config", "user.name", "T");
  git("config", "user.email", "t@t");
  writeFileSync(join(cwd, "a.js"), "export const c = 1;\n");
  git("add", ".");
  git("commit", "-qm", "first");
  server = await startModelServer({
    answers: editScript([{ path: "a.js", search: "export const c = 1;", replace }]),
  });
  const env = { FETCHWORK_BASE_URL: server.baseUrl, FETCHWORK_MODEL: "scripted" };
  const run = async (...args: readonly string[]) => {
    const io = memoryIo({ cwd, env });
    const code = await runCommand(commands, { args: ["agent", ...args], io });
    return { code, ...io.written };
  };
  return { cwd, git, run };
}

it("fetchwork agent edit refuses a dirty tree without --dirty, and names the option", async () => {
  const { cwd, git, run } = await repository("export const c = 2;");
  writeFileSync(join(cwd, "b.js"), "mine\n");
  const { code, stderr } = await run("edit", ".", "set c to 2");
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/not committed: b\.js; .* use the option dirty \(--dirty\)\n/),
  ]);
  expect(stderr).not.toContain("esume");
  expect(await run("edit", ".", "set c to 2", "--dirty", "-q")).toMatchObject({ code: 0 });
  expect(git("status", "--porcelain")).toBe(" M a.js\n?? b.js\n");
});

it("fetchwork agent edit --commit prints the commit, or how to resume when a hook refuses", async () => {
  const { cwd, git, run } = await repository("export const c = 2;");
  const hook = join(cwd, ".git/hooks/pre-commit");
  writeFileSync(hook, "#!/bin/sh\necho no; exit 1\n", { mode: 0o755 });
  const refused = await run("edit", ".", "set c to 2", "--commit");
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringMatching(/the files are written, but git did not commit them: no\n.*agent resume/),
  ]);
  expect(refused.stderr).not.toMatch(/--commit/);
  rmSync(hook);
  const { code, stdout } = await run("resume", "--out", cwd);
  const head = git("rev-parse", "HEAD").slice(0, 12);
  expect([code, stdout]).toEqual([0, expect.stringContaining(`, committed as ${head}\n`)]);
  expect(git("log", "-1", "--format=%s")).toBe("set c to 2\n");
});

it("fetchwork agent edit --commit commits nothing with new errors, and says so", async () => {
  const { git, run } = await repository('import "./missing.js";');
  const { code, stdout } = await run("edit", ".", "break it", "--commit");
  expect([code, stdout]).toEqual([
    3,
    expect.stringContaining(", not committed: there are new errors\n"),
  ]);
  expect(git("log", "--oneline").trim().split("\n")).toHaveLength(1);
});
