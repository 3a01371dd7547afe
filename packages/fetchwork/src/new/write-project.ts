import { randomUUID } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { copyFile, mkdir, readdir, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { makeFolders } from "../files/make-folders.ts";
import { systemReason } from "../command/system-error.ts";
import { CommandUsageError, refuse } from "../command/usage-error.ts";
import type { ProjectFile } from "./project-files.ts";

/** Options for writing a project, next to the files of its templates. */
export interface WriteOptions {
  /** Files to copy into the project, by their paths in it. */
  readonly copies?: ReadonlyMap<string, string> | undefined;
  readonly signal: AbortSignal;
}

/** Why a project cannot be written to a folder; `undefined` when it can. */
export function faultOfTarget(folder: string): string | undefined {
  try {
    const entries = readdirSync(folder);
    if (entries.includes(staging)) {
      return `${folder} contains ${staging}, the work folder of a "fetchwork new" that is still running or was interrupted; if it was interrupted, delete everything that it left there and run the command again`;
    }
    return entries.length > 0 ? `${folder} is not empty` : undefined;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOTDIR") return `${folder} is a file`;
    if (code !== "ENOENT") throw error;
    return undefined;
  }
}

/** Where the files of a project wait in a folder that exists already. */
const staging = ".fetchwork-new";

/**
 * Writes a project. A folder that does not exist gets its name when all files are written. One that
 * exists stays the same folder, since a shell may stand in it: the files are written into a folder
 * in it, then moved up one by one. An error or an interruption leaves the folder unchanged; a
 * killed process leaves what {@link faultOfTarget} explains.
 */
export async function writeProject(
  folder: string,
  files: ReadonlyMap<string, ProjectFile>,
  { copies = new Map<string, string>(), signal }: WriteOptions,
): Promise<void> {
  refuse(faultOfTarget(folder));
  const isThere = existsSync(folder);
  const temporary = isThere
    ? join(folder, staging)
    : join(dirname(folder), `.${basename(folder)}-${randomUUID()}`);
  try {
    await makeFolders(dirname(temporary));
    await mkdir(temporary);
  } catch (cause) {
    throw new Error(`cannot create ${folder}: ${systemReason(cause)}`, { cause });
  }
  try {
    for (const [path, { text, mode }] of files) {
      signal.throwIfAborted();
      const target = join(temporary, path);
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, text, { mode, flag: "wx" });
    }
    for (const [path, from] of copies) {
      signal.throwIfAborted();
      const target = join(temporary, path);
      await mkdir(dirname(target), { recursive: true });
      await copyFile(from, target);
    }
    signal.throwIfAborted();
    if (isThere) await moveEntries(temporary, folder);
    else await rename(temporary, folder);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw error;
  }
}

/** Moves all entries of a folder, or none. */
async function moveEntries(from: string, to: string): Promise<void> {
  const moved: string[] = [];
  try {
    for (const name of await readdir(from)) {
      const target = join(to, name);
      // Another process may have written there since the first check.
      if (existsSync(target)) throw new CommandUsageError(`${to} is not empty`);
      await rename(join(from, name), target);
      moved.push(target);
    }
    await rmdir(from);
  } catch (error) {
    for (const target of moved) await rm(target, { recursive: true, force: true });
    throw error;
  }
}
