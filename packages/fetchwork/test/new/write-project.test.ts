import { spawn } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ProjectFile } from "../../src/new/project-files.ts";
import { writeProject } from "../../src/new/write-project.ts";
import { fetchwork, program, temporaryFolder } from "./project-world.ts";

const quick = ["--packages", "registry", "--skip-git", "--skip-install", "--yes"];
const main = join(import.meta.dirname, "../../src/main.ts");
const { signal } = new AbortController();

/** Files at the top of a project, so that there is something to be interrupted in. */
function manyFiles(count: number): Map<string, ProjectFile> {
  return new Map(Array.from({ length: count }, (_, index) => [`file-${index}`, { text: "x" }]));
}

/** Writes a project in a process, and kills it when the folder looks as it should. */
async function killWhile(
  folder: string,
  isTime: (entries: readonly string[]) => boolean,
): Promise<void> {
  const module = pathToFileURL(join(import.meta.dirname, "../../src/new/write-project.ts")).href;
  const script = `import { writeProject } from ${JSON.stringify(module)};
    const files = new Map(Array.from({ length: 6000 }, (_, index) => ["file-" + index, { text: "x" }]));
    await writeProject(${JSON.stringify(folder)}, files, { signal: new AbortController().signal });`;
  const args = ["--conditions=@fetchwork/source", "--input-type=module", "-e", script];
  const child = spawn(process.execPath, args, { stdio: "inherit" });
  const ended = new Promise<NodeJS.Signals | null>((resolve) => {
    child.once("close", (_, name) => resolve(name));
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const deadline = performance.now() + 45_000;
  while (!isTime(readdirSync(folder)) && performance.now() < deadline) await Promise.resolve();
  child.kill("SIGKILL");
  expect(await ended).toBe("SIGKILL");
}

describe("fetchwork new in a folder that exists", { timeout: 60_000 }, () => {
  it("keeps the working directory of a shell valid", async () => {
    const folder = join(await temporaryFolder(), "shop");
    await mkdir(folder);
    const { ino } = await stat(folder);
    const command = `"$0" --conditions=@fetchwork/source "$1" new . ${quick.join(" ")} && ls && "$0" -p "process.cwd()"`;
    const shell = await program(folder, ["sh", "-c", command, process.execPath, main]);
    expect(shell.code).toBe(0);
    expect(shell.output).toContain("Next:\n\n  npm install\n");
    expect(shell.output).toContain("package.json\n");
    expect(shell.output.trimEnd().endsWith(`\n${folder}`)).toBe(true);
    expect((await stat(folder)).ino).toBe(ino);
    expect(await readdir(folder)).not.toContain(".fetchwork-new");
  });

  it("explains and keeps what a process killed while writing left", async () => {
    const folder = join(await temporaryFolder(), "shop");
    await mkdir(folder);
    await killWhile(folder, (entries) => entries.includes(".fetchwork-new"));
    expect(await readdir(folder)).toEqual([".fetchwork-new"]);
    const again = await fetchwork(folder, "new", ".", ...quick);
    expect([again.code, again.stdout]).toEqual([2, ""]);
    expect(again.stderr).toContain('contains .fetchwork-new, the work folder of a "fetchwork new"');
    expect(await readdir(folder)).toEqual([".fetchwork-new"]);
    await rm(join(folder, ".fetchwork-new"), { recursive: true });
    expect((await fetchwork(folder, "new", ".", ...quick)).code).toBe(0);
  });

  it("explains and keeps what a process killed while moving files left", async () => {
    const folder = join(await temporaryFolder(), "shop");
    await mkdir(folder);
    await killWhile(folder, (entries) => entries.length > 1);
    const left = await readdir(folder);
    expect(left).toContain(".fetchwork-new");
    const again = await fetchwork(folder, "new", ".", ...quick);
    expect([again.code, again.stderr]).toEqual([
      2,
      expect.stringContaining("delete everything that"),
    ]);
    expect(await readdir(folder)).toEqual(left);
  });

  it("moves its files back when a file of the same name appears", async () => {
    const folder = join(await temporaryFolder(), "shop");
    await mkdir(folder);
    class Intruded extends Map<string, ProjectFile> {
      override *[Symbol.iterator](): MapIterator<[string, ProjectFile]> {
        yield* super[Symbol.iterator]();
        writeFileSync(join(folder, "file-7"), "mine");
      }
    }
    const files = new Intruded(manyFiles(10));
    await expect(writeProject(folder, files, { signal })).rejects.toThrow("shop is not empty");
    expect(await readdir(folder)).toEqual(["file-7"]);
    expect(await readFile(join(folder, "file-7"), "utf8")).toBe("mine");
  });

  it("leaves the folder empty when it is interrupted", async () => {
    const folder = join(await temporaryFolder(), "shop");
    await mkdir(folder);
    const files = manyFiles(3);
    const stopped = AbortSignal.abort(new Error("stop"));
    await expect(writeProject(folder, files, { signal: stopped })).rejects.toThrow("stop");
    expect(await readdir(folder)).toEqual([]);
  });
});
