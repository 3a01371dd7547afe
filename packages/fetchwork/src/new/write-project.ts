import { randomUUID } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { copyFile, mkdir, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { makeFolders } from "../make-folders.ts";
import { UsageError } from "../usage-error.ts";
import type { ProjectFile } from "./project-files.ts";

/** What is written beside the files of the templates. */
export interface WriteOptions {
  /** Files to copy into the project, by their paths in it. */
  readonly copies?: ReadonlyMap<string, string> | undefined;
  readonly signal: AbortSignal;
}

/**
 * Checks that a project can be written to a folder: it is not there, or it is empty.
 *
 * @throws UsageError
 */
export function checkTarget(folder: string): void {
  const fault = faultOfTarget(folder);
  if (fault !== undefined) throw new UsageError(fault);
}

/** Why a project cannot be written to a folder; `undefined` when it can. */
export function faultOfTarget(folder: string): string | undefined {
  try {
    return readdirSync(folder).length > 0 ? `${folder} is not empty` : undefined;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOTDIR") return `${folder} is a file`;
    if (code !== "ENOENT") throw error;
    return undefined;
  }
}

/**
 * Writes a project: beside its folder first, which gets its name when everything is there. So it is there whole or not
 * at all, also when it is interrupted.
 */
export async function writeProject(
  folder: string,
  files: ReadonlyMap<string, ProjectFile>,
  { copies = new Map<string, string>(), signal }: WriteOptions,
): Promise<void> {
  checkTarget(folder);
  const parent = dirname(folder);
  await makeFolders(parent);
  const temporary = join(parent, `.${basename(folder)}-${randomUUID()}`);
  await mkdir(temporary);
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
    // Fails when somebody has written there meanwhile.
    if (existsSync(folder)) await rmdir(folder);
    await rename(temporary, folder);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw error;
  }
}
