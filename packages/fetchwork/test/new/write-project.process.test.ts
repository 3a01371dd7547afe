import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { fetchwork, temporaryFolder } from "./project-world.ts";

const quick = ["--packages", "registry", "--skip-git", "--skip-install", "--yes"];

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

describe("fetchwork new where an earlier one was killed", () => {
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
});
