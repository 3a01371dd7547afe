import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

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
