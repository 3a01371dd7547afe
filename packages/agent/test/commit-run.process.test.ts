import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openAICompatible } from "../src/models/http-providers.ts";
import type { AgentOptions } from "../src/run/agent-options.ts";
import { createAgent } from "../src/run/create-agent.ts";
import { checkWorkTree, commitRun } from "../src/workspace/commit-run.ts";
import { undoRun } from "../src/workspace/undo-run.ts";
import { editScript } from "./edit-script.ts";
import { startModelServer, type ModelServer, type ScriptedAnswer } from "./model-server.ts";

let root: string;
let server: ModelServer | undefined;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "commit-run-")));
  git("init", "-q", "-b", "main");
  git("config", "user.name", "T");
  git("config", "user.email", "t@t");
  put("a.js", "export const a = 1;\n");
  put("b.js", "export const b = 1;\n");
  git("add", ".");
  git("commit", "-qm", "first");
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  rmSync(root, { recursive: true, force: true });
});

function put(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

const git = (...args: string[]): string =>
  execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

function hook(name: string, script: string): void {
  put(`.git/hooks/${name}`, `#!/bin/sh\n${script}\n`);
  chmodSync(join(root, ".git/hooks", name), 0o755);
}

const check = { dirty: false, commit: false };
const twice = editScript([
  { path: "a.js", search: "a = 1", replace: "a = 2" },
  { path: "new/c.js", content: "export const c = 2;\n" },
]);

async function agentFor(answers: readonly ScriptedAnswer[], options: AgentOptions = {}) {
  await server?.close();
  server = await startModelServer({ answers });
  const provider = openAICompatible({ baseUrl: server.baseUrl, model: "scripted" });
  return createAgent({ provider, retry: { delay: 1 }, ...options });
}

describe("checkWorkTree", () => {
  it("refuses changed, staged, removed and new files, and names five", async () => {
    put("a.js", "mine\n");
    put("staged.js", "mine\n");
    git("add", "staged.js");
    rmSync(join(root, "b.js"));
    for (const name of ["ü 1", "2", "3"]) put(`new/${name}`, "mine\n");
    await expect(checkWorkTree(root, check)).rejects.toMatchObject({
      code: "ERR_AGENT_CONFLICT",
      path: undefined,
      message:
        "files have changes that are not committed: a.js, b.js, staged.js, new/2, new/3 and 1 more; commit or stash them, or use the option dirty",
    });
    await checkWorkTree(root, { dirty: true, commit: true });
  });

  it("looks at the folder of the program only, and at nothing outside of git", async () => {
    put("sub/c.js", "1\n");
    git("add", ".");
    git("commit", "-qm", "second");
    put("a.js", "mine\n");
    put(".gitignore", "*.log\n");
    put("sub/x.log", "ignored\n");
    put("sub/.fetchwork/runs/x", "ours\n");
    execFileSync("git", ["init", "-q", join(root, "sub/other")]);
    await checkWorkTree(join(root, "sub"), check);
    put("sub/c.js", "mine\n");
    await expect(checkWorkTree(join(root, "sub"), check)).rejects.toThrow(/committed: c\.js;/);
    rmSync(join(root, ".git"), { recursive: true });
    await checkWorkTree(root, check);
    await expect(checkWorkTree(root, { dirty: true, commit: true })).rejects.toMatchObject({
      code: "ERR_AGENT_WRITE",
    });
  });

  it("runs no program that a hostile repository names", async () => {
    put(".gitattributes", "*.js filter=a=b.c\n");
    put("trap.sh", `#!/bin/sh\ntouch "${root}/.git/ran"\ncat\n`);
    chmodSync(join(root, "trap.sh"), 0o755);
    const program = join(root, "trap.sh");
    for (const name of ["filter.a=b.c.clean", "filter.a=b.c.process", "core.fsmonitor"]) {
      git("config", name, program);
    }
    for (const name of ["post-index-change", "fsmonitor-watchman", "pre-commit"]) {
      hook(name, `touch ${root}/.git/ran`);
    }
    put("a.js", "22\n");
    await expect(checkWorkTree(root, check)).rejects.toThrow("a.js");
    expect(existsSync(join(root, ".git/ran"))).toBe(false);
  });

  it("refuses a commit during a merge and a rebase, and allows one on a detached HEAD", async () => {
    const commit = { dirty: true, commit: true };
    git("checkout", "-q", "--detach");
    await checkWorkTree(root, commit);
    put(".git/MERGE_HEAD", git("rev-parse", "HEAD"));
    await expect(checkWorkTree(root, commit)).rejects.toThrow("during a merge");
    rmSync(join(root, ".git/MERGE_HEAD"));
    mkdirSync(join(root, ".git/rebase-merge"));
    await expect(checkWorkTree(root, commit)).rejects.toThrow("during a rebase");
    await checkWorkTree(root, { dirty: true, commit: false });
  });
});

describe("commitRun", () => {
  const run = { runId: "r1", request: "Do it", paths: ["a.js", ":(glob)*.js", "gone.js", "x.log"] };

  it("reports what a hook says that refuses, and leaves index and files as they are", async () => {
    hook("pre-commit", "echo the tests fail; exit 1");
    put("a.js", "2\n");
    put(":(glob)*.js", "new\n");
    const before = git("status", "--porcelain");
    await expect(commitRun(root, run)).rejects.toMatchObject({
      code: "ERR_AGENT_WRITE",
      message: "the files are written, but git did not commit them: the tests fail",
    });
    expect(git("status", "--porcelain")).toBe(before);
    expect(git("log", "--oneline").trim().split("\n")).toHaveLength(1);
  });

  it("commits the files of the run and no other, and leaves the rest of the index", async () => {
    put(".gitignore", "*.log\n");
    put("gone.js", "1\n");
    git("add", ".");
    git("commit", "-qm", "second");
    put("b.js", "staged\n");
    put("staged.js", "staged\n");
    git("add", "b.js", "staged.js");
    put("b.js", "later\n");
    put("a.js", "2\n");
    put("x.log", "ignored\n");
    put("other.js", "mine\n");
    put(":(glob)*.js", "new\n");
    rmSync(join(root, "gone.js"));
    const commit = await commitRun(root, run);
    expect(git("rev-parse", "main").trim()).toBe(commit);
    expect(git("show", "--name-status", "--format=%an: %B", "HEAD")).toBe(
      "T: Do it\n\nRun: r1\n\n\nA\t:(glob)*.js\nM\ta.js\nD\tgone.js\n",
    );
    expect(git("status", "--porcelain")).toBe("MM b.js\nA  staged.js\n?? other.js\n");
    expect(git("show", ":b.js")).toBe("staged\n");
    // A process that was killed before it could say so does not commit again.
    expect(await commitRun(root, run)).toBe(commit);
    expect(await commitRun(root, { ...run, runId: "r2" })).toBe(null);
  });

  it("runs the hooks, filters and signatures of the user's git, and waits for none that stays", async () => {
    put(".gitattributes", "*.js filter=up\n");
    git("add", ".");
    git("commit", "-qm", "second");
    git("config", "filter.up.clean", "tr a-z A-Z");
    const signer = join(root, ".git/sign");
    put(".git/sign", `#!/bin/sh\ntouch ${root}/.git/signed\nexit 1\n`);
    chmodSync(signer, 0o755);
    hook("pre-commit", `touch ${root}/.git/ran`);
    hook("post-commit", "sleep 60 &");
    put("a.js", "two\n");
    const began = performance.now();
    await commitRun(root, run);
    expect(performance.now() - began).toBeLessThan(20_000);
    expect(git("show", "HEAD:a.js")).toBe("TWO\n");
    expect(existsSync(join(root, ".git/ran"))).toBe(true);
    git("config", "commit.gpgSign", "true");
    git("config", "gpg.program", signer);
    put("a.js", "three\n");
    await expect(commitRun(root, run)).rejects.toThrow(/gpg failed to sign/);
    expect(existsSync(join(root, ".git/signed"))).toBe(true);
  });

  it("keeps the author that the environment names, and follows no other variable of git", async () => {
    vi.stubEnv("GIT_AUTHOR_NAME", "Somebody");
    vi.stubEnv("GIT_DIR", "/nowhere");
    put("a.js", "2\n");
    const commit = await commitRun(root, run).finally(() => vi.unstubAllEnvs());
    expect(git("show", "-s", "--format=%an %cn", String(commit))).toBe("Somebody T\n");
  });

  it("works in a folder of a work tree, and without a first commit", async () => {
    rmSync(join(root, ".git"), { recursive: true });
    git("init", "-q");
    git("config", "user.name", "T");
    git("config", "user.email", "t@t");
    put("sub/a.js", "new\n");
    const place = join(root, "sub");
    hook("pre-commit", "exit 1");
    await expect(commitRun(place, run)).rejects.toThrow("did not commit");
    expect(git("ls-files")).toBe("");
    rmSync(join(root, ".git/hooks"), { recursive: true });
    await commitRun(place, run);
    expect(git("ls-tree", "-r", "--name-only", "HEAD")).toBe("sub/a.js\n");
  });

  it.each([
    ["#7: a number\nand more", "#7: a number"],
    [`\n ${"word ".repeat(20)}`, "word ".repeat(14).trim()],
    [`${"x".repeat(71)}y more`, `${"x".repeat(71)}y`],
    ["é".repeat(100), "é".repeat(72)],
    ["--amend\u0007 \t it", "--amend\u{FFFD} it"],
  ])("has the first line of %j as its message", async (request, title) => {
    put("a.js", "2\n");
    await commitRun(root, { ...run, request });
    expect(git("log", "-1", "--format=%B")).toBe(`${title}\n\nRun: r1\n\n`);
  });
});

describe("edit", () => {
  it("refuses a dirty tree before it writes or asks anything, unless it is told", async () => {
    put("b.js", "mine\n");
    const agent = await agentFor(twice);
    await expect(agent.edit({ request: "double it", out: root }).result).rejects.toMatchObject({
      code: "ERR_AGENT_CONFLICT",
    });
    expect([existsSync(join(root, ".fetchwork")), server?.requests]).toEqual([false, []]);
    const wrong = Object.assign({ request: "x", out: root }, { dirtyy: true });
    expect(() => agent.edit(wrong)).toThrow('did you mean "dirty"');
    expect((await agent.edit({ request: "x", out: root, dryRun: true }).result).ok).toBe(true);
    const { commit } = await (
      await agentFor(twice)
    ).edit({ request: "double it", out: root, dirty: true }).result;
    expect(commit).toBe(undefined);
    expect(git("status", "--porcelain")).toBe(" M a.js\n M b.js\n?? new/\n");
  });

  it("commits with `commit`, and undoRun puts back the files and leaves the commit", async () => {
    const agent = await agentFor(twice);
    const input = { request: "double it", out: root, runId: "e1", commit: true };
    const { commit } = await agent.edit(input).result;
    expect(git("log", "-1", "--format=%H %s")).toBe(`${commit} double it\n`);
    expect(git("status", "--porcelain")).toBe("");
    // An edit that is over is not committed again.
    put("a.js", "mine\n");
    expect((await agent.resume("e1", { out: root }).result).commit).toBe(undefined);
    git("checkout", "-q", "a.js");
    await undoRun({ out: root });
    expect(readFileSync(join(root, "a.js"), "utf8")).toBe("export const a = 1;\n");
    expect(git("status", "--porcelain")).toBe(" M a.js\n D new/c.js\n");
    expect(git("rev-parse", "HEAD").trim()).toBe(commit);
  });

  it("commits when it is resumed after a hook refused", async () => {
    hook("pre-commit", `test -e ${root}/.git/may`);
    const agent = await agentFor(twice);
    const input = { request: "double it", out: root, runId: "e1", commit: true };
    await expect(agent.edit(input).result).rejects.toMatchObject({ code: "ERR_AGENT_WRITE" });
    expect(readFileSync(join(root, "a.js"), "utf8")).toBe("export const a = 2;\n");
    put(".git/may", "");
    const { commit, usage } = await agent.resume("e1", { out: root }).result;
    expect(git("log", "-1", "--format=%H %b")).toBe(`${commit} Run: e1\n\n`);
    expect(usage.calls).toBe(server?.requests.length);
  });

  it("commits nothing with new errors", async () => {
    const broken = editScript([{ path: "a.js", content: "import './missing.js';\n" }]);
    const agent = await agentFor(broken, { repair: 0 });
    const result = await agent.edit({ request: "x", out: root, commit: true }).result;
    expect([result.ok, result.commit]).toEqual([false, null]);
    expect(git("status", "--porcelain")).toBe(" M a.js\n");
  });
});
