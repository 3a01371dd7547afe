import { statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { messageOf } from "../command/system-error.ts";

/**
 * Runs a module of the user's, as the program itself would run it, and resolves to its exports.
 *
 * @throws Error with a one-line reason why it cannot be run
 */
export async function loadModule(file: string): Promise<Readonly<Record<string, unknown>>> {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) {
    throw new Error(`${file} does not exist`);
  }
  try {
    // A module namespace.
    return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  } catch (cause) {
    throw new Error(`cannot run ${file}: ${reasonOf(cause)}`, { cause });
  }
}

function reasonOf(cause: unknown): string {
  const [line = ""] = messageOf(cause).split("\n");
  const [, missing] = /^Cannot find (?:module|package) '([^']+)'/.exec(line) ?? [];
  return missing === undefined ? line : `it imports ${missing}, which cannot be found`;
}
