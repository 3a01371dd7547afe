import ignore, { type Ignore } from "ignore";
import { folderOf, pathFrom } from "./resolve-import.ts";

/** Says of a path whether a `.gitignore` of the project names it: what is there is then the work of a tool. */
export function ignoredPaths(files: ReadonlyMap<string, string>): (path: string) => boolean {
  const rules: (readonly [string, Ignore])[] = [...files]
    .filter(([path]) => /(?:^|\/)\.gitignore$/.test(path))
    .map(([path, source]) => [folderOf(path), ignore().add(source)]);
  return (path) =>
    rules.some(([folder, each]) => {
      const below = pathFrom(folder, path);
      return below !== undefined && each.ignores(below);
    });
}
