import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Makes a folder and those above it. Node's `mkdir` with `recursive` never ends where a file system
 * says ENOENT for what cannot be made. `/proc` and the places of an automounter do so.
 */
export async function makeFolders(
  path: string,
  options: { readonly mode?: number } = {},
): Promise<void> {
  if (existsSync(path)) return;
  const above = dirname(path);
  if (above !== path) await makeFolders(above, options);
  try {
    await mkdir(path, options);
  } catch (error) {
    // Another process may have been first.
    if (!existsSync(path)) throw error;
  }
}
