import { existsSync } from "node:fs";
import path from "node:path";

/**
 * Finds the folder of the project that runs: the nearest one with a `package.json` around the file
 * that Node was started with. Without one, as for a file that was copied alone or an executable, it
 * is the working folder.
 */
export function findProjectFolder(main: string | undefined = process.argv[1]): string {
  let folder = main === undefined ? "/" : path.dirname(path.resolve(main));
  while (!existsSync(path.join(folder, "package.json"))) {
    const parent = path.dirname(folder);
    if (parent === folder) return process.cwd();
    folder = parent;
  }
  return folder;
}
