import { writeFileSync } from "node:fs";
import { mkdir, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ProjectFile } from "../../src/new/project-files.ts";
import { writeProject } from "../../src/new/write-project.ts";
import { program, temporaryFolder } from "./project-world.ts";

const quick = ["--packages", "registry", "--skip-git", "--skip-install", "--yes"];
const main = join(import.meta.dirname, "../../src/main.ts");
const { signal } = new AbortController();

/** Files at the top of a project, so that there is something to be interrupted in. */
function manyFiles(count: number): Map<string, ProjectFile> {
  return new Map(Array.from({ length: count }, (_, index) => [`file-${index}`, { text: "x" }]));
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
