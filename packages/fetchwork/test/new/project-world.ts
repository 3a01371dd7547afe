import { spawn } from "node:child_process";
import { mkdtemp, readdir, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { commands } from "../../src/commands.ts";
import { makeOnce } from "../../../../scripts/make-once.ts";
import { packWorkspace } from "../../../../scripts/pack-workspace.ts";
import { runCommand } from "../../src/command/run-command.ts";
import { memoryIo } from "../memory-io.ts";

const root: string = join(import.meta.dirname, "../../../..");

/** Options with which a project has everything. */
const everything = ["--password-resets", "--webhooks"];

/** What a program has written, and how it ended. */
export interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** Makes a folder that is gone when the test ends. */
export async function temporaryFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "fetchwork-new-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs `fetchwork` in a folder. */
export async function fetchwork(
  cwd: string,
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const io = memoryIo({ cwd });
  const code = await runCommand(commands, { args, io });
  return { code, ...io.written };
}

/** Runs a program to its end. */
export async function program(
  cwd: string,
  [name = "", ...args]: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Ended> {
  const { CI: _ci, ...inherited } = process.env;
  const child = spawn(name, args, {
    cwd,
    env: { ...inherited, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => void (output += text));
  }
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, output };
}

let modules: Promise<string> | undefined;

/**
 * Installs a project that has everything, once for a state of the sources, and returns its
 * `node_modules`: all projects of the matrix use the same.
 */
export function sharedModules(): Promise<string> {
  return (modules ??= installModules());
}

async function installModules(): Promise<string> {
  const tarballs = await packWorkspace(root, AbortSignal.timeout(120_000));
  const [first] = tarballs.values();
  const key = /([\da-f]+)[^/]*\/[^/]+$/.exec(first?.file ?? "")?.[1] ?? "none";
  const cache = join(root, "node_modules/.cache/fetchwork-matrix");
  await makeOnce(join(cache, key), async (target) => {
    const outdated = (await readdir(cache)).filter((name) => !name.startsWith(key));
    for (const name of outdated) await rm(join(cache, name), { recursive: true, force: true });
    const project = join(target, "project");
    const made = await fetchwork(root, "new", project, "--skip-git", "--yes", ...everything);
    if (made.code !== 0) throw new Error(made.stderr);
  });
  return join(cache, key, "project", "node_modules");
}

/** Makes a project in a temporary folder, with the modules that all share. */
export async function project(...options: readonly string[]): Promise<string> {
  const folder = join(await temporaryFolder(), "shop");
  const quiet = ["--packages", "registry", "--skip-git", "--skip-install", "--yes"];
  const made = await fetchwork("/", "new", folder, ...quiet, ...options);
  if (made.code !== 0) throw new Error(made.stderr);
  await symlink(await sharedModules(), join(folder, "node_modules"));
  return folder;
}
