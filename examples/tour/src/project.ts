import { strict as assert } from "node:assert";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { commands, runCommand } from "fetchwork";
import type { ResourceWish } from "./agent.ts";

/** A generated project while it runs. */
export interface RunningProject {
  readonly origin: string;
  close(): Promise<void>;
}

const packages = join(import.meta.dirname, "../../../node_modules");

/**
 * Makes a project as `fetchwork new` does; instead of an installation it has the packages of this
 * repository.
 */
export async function makeProject(parent: string): Promise<string> {
  await run(parent, ["new", "notes-api", "--packages=registry", "--skip-git", "--skip-install"]);
  const folder = join(parent, "notes-api");
  await symlink(packages, join(folder, "node_modules"), "junction");
  return folder;
}

/** Adds a resource as `fetchwork add` does. */
export async function addResource(folder: string, { name, fields }: ResourceWish): Promise<void> {
  const written = await run(folder, ["add", "--", name, ...fields]);
  assert.match(written, /^written {2}src\/api\/note\/model\.ts$/m);
}

/** Starts the project as a separate process. */
export async function startProject(folder: string, masterKey: string): Promise<RunningProject> {
  const child = spawn(process.execPath, ["--conditions=@fetchwork/source", "src/index.ts"], {
    cwd: folder,
    env: { PATH: process.env["PATH"], IP: "127.0.0.1", PORT: "0", MASTER_KEY: masterKey },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const gone = once(child, "exit").then(([code]: readonly unknown[]) => code);
  const kill = (): void => void child.kill("SIGKILL");
  // When the tour is cut off; before the folder goes.
  process.prependOnceListener("exit", kill);
  let said = "";
  child.stderr.on("data", (chunk) => (said += String(chunk)));
  const origin = await new Promise<string>((resolve, reject) => {
    child.stdout.on("data", (chunk) => {
      said += String(chunk);
      const [found] = /http:\/\/[\d.]+:\d+/.exec(said) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once("error", reject);
    child.once("exit", () => reject(new Error(`the project did not start: ${said}`)));
  });
  return {
    origin,
    async close() {
      child.kill("SIGTERM");
      const code = await gone;
      process.off("exit", kill);
      assert.equal(code, 0, `the project ended with ${String(code)}: ${said}`);
    },
  };
}

/** Runs the command in this process; returns what it prints. */
async function run(cwd: string, args: readonly string[]): Promise<string> {
  let stdout = "";
  let stderr = "";
  const code = await runCommand(commands, {
    args,
    io: {
      stdin: nothing(),
      stdout: { write: (content) => (stdout += String(content)), isTerminal: false },
      stderr: { write: (content) => (stderr += String(content)), isTerminal: false },
      env: {},
      cwd,
      signal: new AbortController().signal,
    },
  });
  assert.equal(code, 0, stderr);
  return stdout;
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
