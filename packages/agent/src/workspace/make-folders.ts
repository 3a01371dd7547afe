import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { codeOf } from "../error-code.ts";

/**
 * Makes a folder and those above it. `mkdir` of Node with `recursive` never ends where a file
 * system refuses a folder with ENOENT, as `/proc` does.
 */
export async function makeFolders(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT" && dirname(path) !== path) {
      // Somebody else may have made the folder above in the meantime.
      if (!(await isFolder(dirname(path)))) await makeFolders(dirname(path));
      return makeFolder(path);
    }
    if (!(await isFolder(path))) throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() === true;
}

/** Makes a folder, or leaves what has its name. */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}
