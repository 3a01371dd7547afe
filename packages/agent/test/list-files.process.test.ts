import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readProjectFiles } from "../src/run/read-project-files.ts";
import { ConfinedFolder } from "../src/workspace/confined-folder.ts";
import { listFiles } from "../src/workspace/list-files.ts";

let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "list-files-")));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(path: string | Buffer, text = "x\n"): void {
  const place = Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path)]);
  mkdirSync(dirname(place.toString("latin1")), { recursive: true });
  writeFileSync(place, text);
}

const git = (...args: string[]): string =>
  execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@t", ...args], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });

const listed = async (folder = root): Promise<readonly string[]> =>
  (await listFiles(folder)).files.map(({ path }) => path);

/** A program that writes `ran` when it is called. */
function trap(): string {
  const path = join(root, "trap.sh");
  writeFileSync(path, `#!/bin/sh\ntouch "${root}/ran"\ncat\n`);
  chmodSync(path, 0o755);
  return path;
}

describe("listFiles", () => {
  it("runs no program that a hostile repository names", async () => {
    git("init", "-q");
    put("a.js");
    put(".gitattributes", "* filter=x\n");
    git("add", "a.js");
    const program = trap();
    git("config", "core.fsmonitor", program);
    git("config", "core.sshCommand", program);
    git("config", "diff.external", program);
    git("config", "filter.x.clean", program);
    git("config", "filter.x.process", program);
    put(".git/hooks/post-index-change", `#!/bin/sh\ntouch ${root}/ran\n`);
    chmodSync(join(root, ".git/hooks/post-index-change"), 0o755);
    expect(await listed()).toEqual([".gitattributes", "a.js", "trap.sh"]);
    expect(existsSync(join(root, "ran"))).toBe(false);
  });

  it("leaves out links, files behind links, other repositories and .fetchwork", async () => {
    git("init", "-q");
    put("a.js");
    put("real/in.js");
    put("linked/in.js");
    put("other/b.js");
    put(".fetchwork/runs/x/journal.ndjson");
    git("add", "linked");
    execFileSync("git", ["init", "-q", join(root, "other")]);
    rmSync(join(root, "linked"), { recursive: true });
    symlinkSync("/etc", join(root, "linked"));
    mkdirSync(join(root, "..", `${root.split("/").pop()}-out`));
    symlinkSync("/etc/passwd", join(root, "passwd"));
    expect(await listed()).toEqual(["a.js", "real/in.js"]);
    rmSync(join(root, "..", `${root.split("/").pop()}-out`), { recursive: true });
    rmSync(join(root, ".git"), { recursive: true });
    expect(await listed()).toEqual(["a.js", "real/in.js"]);
  });

  it("leaves out names that cannot be written everywhere, and keeps those with dashes and brackets", async () => {
    const names = ["-rf", "--exec=x", "[id].tsx", "line\nbreak", '"quoted"', "a.js", "ü.js"];
    for (const name of names) put(name);
    put(Buffer.from([0x62, 0xff, 0x2e, 0x6a, 0x73]));
    const kept = ["--exec=x", "-rf", "[id].tsx", "a.js", "ü.js"];
    expect(await listed()).toEqual(kept);
    git("init", "-q");
    expect(await listed()).toEqual(kept);
  });

  it("walks where .git is a file that leads to the repository of another folder", async () => {
    put("other/secret.js");
    execFileSync("git", ["init", "-q", join(root, "other")]);
    execFileSync("git", ["add", "."], { cwd: join(root, "other") });
    put("mine/.git", `gitdir: ${root}/other/.git\n`);
    put("mine/.gitignore", "*.log\n");
    put("mine/a.js");
    put("mine/b.log");
    expect(await listed(join(root, "mine"))).toEqual([".gitignore", "a.js"]);
  });

  it("lists a work tree of git worktree, and a folder in a work tree", async () => {
    git("init", "-q");
    put("a.js");
    put("sub/b.js");
    put("sub/c.log");
    put(".gitignore", "*.log\nmade/\n");
    git("add", ".");
    git("commit", "-qm", "x");
    git("worktree", "add", "-q", join(root, "made/tree"));
    expect(await listed(join(root, "made/tree"))).toEqual([".gitignore", "a.js", "sub/b.js"]);
    expect(await listed(join(root, "sub"))).toEqual(["b.js"]);
  });

  it("lists a folder that the repository around it ignores", async () => {
    git("init", "-q");
    put(".gitignore", "generated/\n");
    put("generated/a.js");
    expect(await listed(join(root, "generated"))).toEqual(["a.js"]);
  });

  it("leaves out what is made, unless git tracks it", async () => {
    git("init", "-q");
    put("dist/kept.js");
    git("add", ".");
    put("dist/made.js");
    put("node_modules/x/index.js");
    put("packages/a/node_modules/x/index.js");
    expect(await listed()).toEqual(["dist/kept.js"]);
  });

  it("is cut at its limit instead of failing", async () => {
    for (let number = 0; number < 30; number += 1) put(`f${number}.js`);
    const walked = await listFiles(root, { maxFiles: 10 });
    expect([walked.files.length, walked.isCut]).toEqual([10, true]);
    git("init", "-q");
    const asked = await listFiles(root, { maxFiles: 10 });
    expect([asked.files.length, asked.isCut]).toEqual([10, true]);
    expect((await listFiles(root)).isCut).toBe(false);
  });

  it("is not stopped by a pattern with many stars", async () => {
    put(".gitignore", `${"*a".repeat(30)}b\n${"**/a/".repeat(20)}b\n*.log\n`);
    put(`${"a".repeat(200)}.js`);
    put("x.log");
    const start = performance.now();
    expect(await listed()).toEqual([".gitignore", `${"a".repeat(200)}.js`]);
    expect(performance.now() - start).toBeLessThan(2_000);
  });

  it("walks to what git lists", async () => {
    put(
      ".gitignore",
      "*.log\n/top\n!keep.log\nsecret-data/\ndoc/**/*.txt\n\\#x\n# comment\n a\nfoo/*\n!foo/b\n",
    );
    put("sub/.gitignore", "!x.log\nlocal\n/anchored/\n");
    put("sub/deep/.gitignore", "*\n!in.js\n");
    const words = ["a.log", "keep.log", "top", "x.log", "local", "#x", "b", "c.js", "d.txt"];
    const folders = ["", "sub/", "sub/deep/", "secret-data/", "doc/", "doc/x/y/", "foo/", "foo/z/"];
    for (const folder of [...folders, "sub/anchored/", "sub/secret-data/"]) {
      for (const word of words) put(folder + word);
    }
    put("sub/deep/in.js");
    const walked = await listed();
    git("init", "-q");
    expect(await listed()).toEqual(walked);
    expect(walked.length).toBeGreaterThan(20);
    expect(walked.some((path) => path.includes("secret-data"))).toBe(false);
  });
});

describe("readProjectFiles", () => {
  it("never reads what is ignored, in a work tree or outside of one", async () => {
    put(".gitignore", "secret-data/\n*.log\n.next/\n");
    put("secret-data/customers.csv", "name\n");
    put("a.log");
    put(".next/x.js");
    put("a.js", "export const a = 1;\n");
    const folder = await ConfinedFolder.open(root);
    const paths = [".gitignore", "a.js"];
    expect([...(await readProjectFiles(folder, { maxFiles: 10 })).keys()]).toEqual(paths);
    git("init", "-q");
    expect([...(await readProjectFiles(folder, { maxFiles: 10 })).keys()]).toEqual(paths);
  });

  it("names all files of a large program and reads sources first", async () => {
    for (let number = 0; number < 50; number += 1) put(`a${number}.txt`);
    put("z.js", "let z;\n");
    const unread: string[] = [];
    const files = await readProjectFiles(await ConfinedFolder.open(root), {
      maxFiles: 1,
      onUnread: (path) => unread.push(path),
    });
    expect([files.size, files.get("z.js"), unread.length]).toEqual([51, "let z;\n", 47]);
  });
});
