import { constants } from "node:fs";
import { open, realpath, type FileHandle } from "node:fs/promises";
import { join, sep } from "node:path";
import { isAllowed, type FilePathRules } from "./file-path.ts";

/** A root folder and what may be served of it. */
export interface FileRoot {
  /** Without symbolic links. */
  readonly folder: string;
  readonly rules: FilePathRules;
}

/** An open file. The receiver closes it. */
export interface OpenFile {
  readonly handle: FileHandle;
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly modified: number;
}

/** The file or folder that a path leads to, if any. */
export type Found = OpenFile | { readonly folder: string } | undefined;

/**
 * Opens what some names below a root lead to. Symbolic links are followed first; what they lead to
 * must be inside the root, and not be hidden. Returns undefined for what does not exist, may not be
 * read, or is neither a file nor a folder.
 */
export async function openFile(root: FileRoot, names: readonly string[]): Promise<Found> {
  let handle: FileHandle | undefined;
  try {
    const path = await realpath(join(root.folder, ...names));
    if (!isInside(root, path)) return undefined;
    // A pipe must not keep the opening waiting, and a link that was put here just now is not
    // followed.
    handle = await open(
      path,
      constants.O_RDONLY | constants.O_NONBLOCK | (constants.O_NOFOLLOW ?? 0),
    );
    const stats = await handle.stat();
    if (stats.isFile()) {
      const file = { handle, size: stats.size, modified: stats.mtimeMs };
      handle = undefined;
      return file;
    }
    return stats.isDirectory() ? { folder: path } : undefined;
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  } finally {
    await handle?.close();
  }
}

function isInside({ folder, rules }: FileRoot, path: string): boolean {
  if (path === folder) return true;
  const prefix = folder.endsWith(sep) ? folder : folder + sep;
  if (!path.startsWith(prefix)) return false;
  return path
    .slice(prefix.length)
    .split(sep)
    .every((name) => isAllowed(name, rules));
}

const absences: ReadonlySet<unknown> = new Set([
  "EACCES",
  "EINVAL",
  "EISDIR",
  "ELOOP",
  "ENAMETOOLONG",
  "ENOENT",
  "ENOTDIR",
  "ENXIO",
  "EPERM",
]);

/** Whether the error means that there is nothing to serve. Others are failures of the machine. */
function isAbsence(error: unknown): boolean {
  return error instanceof Error && "code" in error && absences.has(error.code);
}
