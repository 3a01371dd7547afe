import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, type Platform } from "../platform.ts";

/**
 * Starts the command as a process of the runtime: makes a project, adds a resource, writes a
 * program of a transcript.
 */
export async function smoke({ command }: Platform): Promise<void> {
  const installed = resolve("node_modules");
  const [program = "", ...before] = command;
  const folder = await mkdtemp(join(tmpdir(), "fetchwork-smoke-"));
  const run = (cwd: string, ...args: readonly string[]): Promise<string> =>
    new Promise((done, reject) => {
      const all = [...before, join(installed, "fetchwork/bin/fetchwork.mjs"), ...args];
      execFile(program, all, { cwd }, (error, stdout, stderr) => {
        if (error === null) done(stdout);
        else reject(new Error(`fetchwork ${args.join(" ")}: ${stderr}`, { cause: error }));
      });
    });
  try {
    expect("the version", /^\d+\.\d+\.\d+$/.test((await run(folder, "--version")).trim()), true);
    const options = ["--yes", "--skip-install", "--skip-git", "--packages", "registry"];
    await run(folder, "new", "shop", ...options);
    const project = join(folder, "shop");
    await run(project, "add", "article", "title:string!:search,sort", "content:text");
    const model = await readFile(join(project, "src/api/article/model.ts"), "utf8");
    expect("the resource", model.includes("title"), true);
    const transcript = join(installed, "@fetchwork/agent/transcripts/pong.ndjson");
    await run(folder, "agent", "--replay", transcript, "--out", "pong");
    const page = await readFile(join(folder, "pong/index.html"), "utf8");
    expect("the program", page.includes("<canvas"), true);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
