import { statSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Makes a folder and those above it. Node's `mkdir` with `recursive` never ends where a file system
 * says ENOENT for what cannot be made. `/proc` and the places of an automounter do so.
 */
export async function makeFolders(path: string, mode?: number): Promise<void> {
  if (isFolder(path)) return;
  const above = dirname(path);
  if (above !== path) await makeFolders(above, mode);
  try {
    await mkdir(path, mode);
  } catch (error) {
    // Another process may have been first.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
