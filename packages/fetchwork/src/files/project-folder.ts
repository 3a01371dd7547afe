import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { CommandUsageError } from "../command/usage-error.ts";

/** Finds the project, made by `fetchwork new`, that a folder is in. */
export function projectFolder(cwd: string): string | undefined {
  let folder = cwd;
  while (
    !existsSync(join(folder, "src/api/index.ts")) ||
    !existsSync(join(folder, "package.json"))
  ) {
    const parent = dirname(folder);
    if (parent === folder) return undefined;
    folder = parent;
  }
  return folder;
}

/** Returns what a command found in its project, or throws that the option is missing. */
export function inProject<T>(found: T | undefined, option: string): T {
  if (found !== undefined) return found;
  throw new CommandUsageError(`there is no project here: pass --${option}, or run it in a project`);
}
