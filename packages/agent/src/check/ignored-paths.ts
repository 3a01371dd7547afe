import ignore, { type Ignore } from "ignore";
import { folderOf } from "./resolve-import.ts";

/** Says of a path whether a `.gitignore` of the project names it: what is there is then the work of a tool. */
export function ignoredPaths(files: ReadonlyMap<string, string>): (path: string) => boolean {
  const rules: (readonly [string, Ignore])[] = [...files]
    .filter(([path]) => /(?:^|\/)\.gitignore$/.test(path))
    .map(([path, source]) => [folderOf(path), ignore().add(source)]);
  return (path) =>
    rules.some(([folder, each]) => {
      if (folder === "") return each.ignores(path);
      return path.startsWith(`${folder}/`) && each.ignores(path.slice(folder.length + 1));
    });
}
