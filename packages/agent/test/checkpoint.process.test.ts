import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { takeCheckpoint } from "../src/workspace/checkpoint.ts";
import { ConfinedFolder } from "../src/workspace/confined-folder.ts";
import { undoRun } from "../src/workspace/undo-run.ts";

let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "checkpoint-")));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

const read = (path: string): string => readFileSync(join(root, path), "utf8");

const git = (...args: string[]): string =>
  execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@t", ...args], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });

/** Does to the program what a run does: each change is kept before it is made. `null` removes. */
async function change(runId: string, changes: Readonly<Record<string, string | null>>) {
  const folder = await ConfinedFolder.open(root);
  const checkpoint = await takeCheckpoint(folder, runId);
  for (const [path, after] of Object.entries(changes)) {
    await checkpoint.keep(path, after ?? undefined);
    if (after === null) rmSync(join(root, path));
    else await folder.write(path, after);
  }
  return checkpoint;
}

describe("takeCheckpoint", () => {
  it("runs no program that a hostile repository names", async () => {
    git("init", "-q");
    put("a.js", "1\n");
    git("add", ".");
    put("trap.sh", `#!/bin/sh\ntouch "${root}/ran"\ncat\n`);
    chmodSync(join(root, "trap.sh"), 0o755);
    const program = join(root, "trap.sh");
    put(".gitattributes", "*.js filter=a=b.c\n*.ts filter=d diff=d\n");
    for (const name of [
      "filter.a=b.c.clean",
      "filter.d.process",
      "filter.d.clean",
      "diff.d.textconv",
    ]) {
      git("config", name, program);
    }
    git("config", "filter.d.required", "true");
    for (const name of ["core.fsmonitor", "core.sshCommand", "diff.external", "gpg.program"]) {
      git("config", name, program);
    }
    git("config", "commit.gpgSign", "true");
    for (const hook of [
      "reference-transaction",
      "post-index-change",
      "pre-commit",
      "post-commit",
    ]) {
      put(`.git/hooks/${hook}`, `#!/bin/sh\ntouch ${root}/ran\n`);
      chmodSync(join(root, ".git/hooks", hook), 0o755);
    }
    // Other repositories have a configuration too.
    execFileSync("git", ["clone", "-q", "--no-checkout", root, join(root, "inner")]);
    execFileSync("git", ["config", "core.fsmonitor", program], { cwd: join(root, "inner") });
    rmSync(join(root, "ran"), { force: true });
    put("a.js", "22\n");
    put("b.ts", "new\n");
    const { commit } = await change("r1", { "a.js": "3\n" });
    expect(existsSync(join(root, "ran"))).toBe(false);
    rmSync(join(root, ".git/hooks"), { recursive: true });
    expect(git("-c", "core.fsmonitor=false", "show", `${commit}:a.js`)).toBe("22\n");
  });

  it("keeps nothing in the repository of another folder", async () => {
    mkdirSync(join(root, "other"));
    execFileSync("git", ["init", "-q", join(root, "other")]);
    put(".git", `gitdir: ${root}/other/.git\n`);
    put("a.js", "1\n");
    const { commit } = await change("r1", { "a.js": "2\n" });
    expect(commit).toBe(undefined);
    expect(existsSync(join(root, "other/.git/refs/fetchwork"))).toBe(false);
    await undoRun({ out: root });
    expect(read("a.js")).toBe("1\n");
  });

  it("is a commit of the files as they are, and changes nothing else of the repository", async () => {
    git("init", "-q");
    put("kept.js", "1\n");
    put("gone.js", "1\n");
    put(".gitignore", "*.log\n");
    git("add", ".");
    git("commit", "-qm", "first");
    put("staged.js", "staged\n");
    git("add", "staged.js");
    rmSync(join(root, "gone.js"));
    put("kept.js", "dirty\n");
    put("x.log", "ignored\n");
    put("-rf", "dash\n");
    put("line\nbreak", "newline\n");
    writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.of(0xff, 0xfe)]), "bytes\n");
    symlinkSync("/etc/passwd", join(root, "link"));
    const before = [
      git("status", "--porcelain"),
      git("log", "--all", "--oneline"),
      git("ls-files", "-s"),
    ];
    const { commit } = await change("r1", {});
    const names = git("ls-tree", "-r", "--name-only", String(commit)).trim().split("\n");
    expect(names).toEqual([
      "-rf",
      ".gitignore",
      "kept.js",
      '"line\\nbreak"',
      "link",
      "staged.js",
      '"\\377\\376"',
    ]);
    expect(git("show", `${commit}:kept.js`)).toBe("dirty\n");
    expect(git("rev-parse", `${commit}^`)).toBe(git("rev-parse", "HEAD"));
    expect(git("rev-parse", "refs/fetchwork/r1").trim()).toBe(commit);
    expect(git("status", "--porcelain")).toBe(before[0]);
    expect(git("log", "--branches", "--oneline")).toBe(before[1]);
    expect(git("ls-files", "-s")).toBe(before[2]);
    // What is taken up again began with the first one.
    put("kept.js", "later\n");
    expect((await change("r1", {})).commit).toBe(commit);
  });

  it("works without a first commit, and in a folder of a work tree", async () => {
    git("init", "-q");
    put("a/b.js", "1\n");
    put("c.js", "1\n");
    const folder = await ConfinedFolder.open(join(root, "a"));
    const { commit } = await takeCheckpoint(folder, "r1");
    expect(git("ls-tree", "-r", "--name-only", String(commit))).toBe("a/b.js\n");
  });
});

describe.each(["in a work tree of git", "outside of git"])("undoRun %s", (where) => {
  beforeEach(() => {
    if (where.startsWith("in")) git("init", "-q");
  });

  it("refuses wrong options, and what is not a run", async () => {
    await expect(undoRun({ out: root, runId: "../x" })).rejects.toMatchObject({
      code: "ERR_AGENT_OPTION",
    });
    await expect(undoRun(Object.assign({ out: root }, { forced: true }))).rejects.toMatchObject({
      code: "ERR_AGENT_OPTION",
    });
    await expect(undoRun({ out: root })).rejects.toMatchObject({ code: "ERR_AGENT_JOURNAL" });
    await expect(undoRun({ out: root, runId: "r1" })).rejects.toMatchObject({
      code: "ERR_AGENT_JOURNAL",
    });
  });

  it("touches nothing where somebody changed a file since, unless it is forced", async () => {
    put("a.js", "1\n");
    put("b.js", "1\n");
    await change("r1", { "a.js": "2\n", "b.js": "2\n" });
    put("b.js", "mine\n");
    await expect(undoRun({ out: root })).rejects.toMatchObject({
      code: "ERR_AGENT_CONFLICT",
      path: "b.js",
      message: "changed since the run r1, so nothing was undone: b.js",
    });
    expect([read("a.js"), read("b.js")]).toEqual(["2\n", "mine\n"]);
    const dry = await undoRun({ out: root, dryRun: true });
    expect(dry.conflicts).toEqual(["b.js"]);
    expect(read("a.js")).toBe("2\n");
    await undoRun({ out: root, force: true });
    expect([read("a.js"), read("b.js")]).toEqual(["1\n", "1\n"]);
    const { hashOf } = await import("../src/workspace/project-writer.ts");
    expect(read(`.fetchwork/replaced/${hashOf("mine\n")}`)).toBe("mine\n");
  });

  it("puts back what was changed, made, moved and removed, and no other file", async () => {
    put("changed.js", "1\r\n");
    put("moved.js", "moved\n");
    put("removed.sh", "#!/bin/sh\n");
    chmodSync(join(root, "removed.sh"), 0o755);
    put("other.js", "1\n");
    put("deep/kept.js", "1\n");
    await change("r1", {
      "changed.js": "2\n",
      "made.js": "new\n",
      "deep/er/made.js": "new\n",
      "deep/er/and/made.js": "new\n",
      "moved.js": null,
      "deep/moved.js": "moved\n",
      "removed.sh": null,
    });
    await change("r1", { "changed.js": "3\n" });
    put("other.js", "mine\n");
    const { runId, files, conflicts } = await undoRun({ out: root });
    expect([runId, conflicts, files.length]).toEqual(["r1", [], 7]);
    expect([read("changed.js"), read("moved.js"), read("other.js")]).toEqual([
      "1\r\n",
      "moved\n",
      "mine\n",
    ]);
    expect(statSync(join(root, "removed.sh")).mode & 0o777).toBe(0o755);
    const gone = ["made.js", "deep/er", "deep/moved.js"].filter((path) =>
      existsSync(join(root, path)),
    );
    expect(gone).toEqual([]);
    expect(read("deep/kept.js")).toBe("1\n");
  });

  it("undoes the last run first, then the one before it", async () => {
    put("a.js", "1\n");
    await change("r1", { "a.js": "2\n" });
    await new Promise((resolve) => setTimeout(resolve, 10));
    await change("r2", { "a.js": "3\n" });
    await expect(undoRun({ out: root, runId: "r1" })).rejects.toMatchObject({
      code: "ERR_AGENT_CONFLICT",
    });
    expect((await undoRun({ out: root })).runId).toBe("r2");
    expect((await undoRun({ out: root })).runId).toBe("r1");
    expect(read("a.js")).toBe("1\n");
    await expect(undoRun({ out: root })).rejects.toMatchObject({ code: "ERR_AGENT_JOURNAL" });
  });

  it("writes nothing outside of the folder, whatever a list of changes says", async () => {
    put("in/a.js", "1\n");
    await change("r1", { "in/a.js": "2\n", "in/new.js": "2\n" });
    renameSync(join(root, "in"), join(root, "moved"));
    symlinkSync(join(root, "moved"), join(root, "in"));
    await expect(undoRun({ out: root, force: true })).rejects.toMatchObject({
      code: "ERR_AGENT_UNSAFE_PATH",
    });
    expect([read("moved/a.js"), read("moved/new.js")]).toEqual(["2\n", "2\n"]);
    const line = { path: "../out.js", before: null, after: null, mode: 0, made: "" };
    put(".fetchwork/runs/r2/changes.ndjson", `${JSON.stringify(line)}\nno JSON\n{"path":"a"}\n`);
    await expect(undoRun({ out: root, runId: "r2" })).rejects.toMatchObject({
      code: "ERR_AGENT_JOURNAL",
    });
  });

  it("refuses a copy that is not what was there, unless the checkpoint has it", async () => {
    put("a.js", "1\n");
    await change("r1", { "a.js": "2\n" });
    const { hashOf } = await import("../src/workspace/project-writer.ts");
    put(`.fetchwork/replaced/${hashOf("1\n")}`, "other\n");
    const outcome = await undoRun({ out: root }).then(
      () => read("a.js"),
      (error: unknown) => String(error),
    );
    expect(outcome).toMatch(where.startsWith("in") ? /^1\n$/ : /the copy of a\.js is lost/);
  });
});
