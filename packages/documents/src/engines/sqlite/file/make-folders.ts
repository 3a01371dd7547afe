import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder and those above it. Node's `mkdir` with `recursive` never ends where a file system
 * says ENOENT for what cannot be made. `/proc` and the places of an automounter do so.
 */
export function makeFolders(path: string, mode: number): void {
  if (existsSync(path)) return;
  const above = dirname(path);
  if (above !== path) makeFolders(above, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have been first.
    if (!existsSync(path)) throw error;
  }
}
