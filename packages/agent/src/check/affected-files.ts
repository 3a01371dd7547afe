import { posix } from "node:path";
import { isScript } from "./parse-script.ts";

/** Programs with no more scripts are checked whole. */
const small = 100;

/** Files on which all files of a program may depend. */
const isShared = /\.(?:json|jsonc|html?|css|webmanifest|vue|svelte)$|\.d\.[cm]?ts$/i;

/**
 * The scripts in which a change of some files can make a fault: the changed files, and the scripts
 * that import one of them.
 *
 * @returns undefined where the fault can be in any file
 */
export function affectedBy(
  changed: readonly string[],
  files: ReadonlyMap<string, string>,
): ReadonlySet<string> | undefined {
  const scripts = [...files].filter(([path]) => isScript(path));
  if (scripts.length <= small || changed.some((path) => isShared.test(path))) return undefined;
  if ([...files].some(([path, text]) => /\.html?$/i.test(path) && text.includes("importmap"))) {
    return undefined;
  }
  const stems = new Set(changed.filter(isScript).map(stemOf));
  const names = [...stems].map((stem) => stem.slice(stem.lastIndexOf("/") + 1));
  const anyOf = names.map((name) => name.replace(/\W/g, "\\$&")).join("|");
  const named = new RegExp(`["'\`]((?:[^"'\`\\n]*/)?(?:${anyOf})(?:\\.\\w{1,5})*)/?["'\`]`, "g");
  const affected = new Set(changed);
  for (const [path, text] of scripts) {
    // The word is missing in most files, which is far quicker to find out.
    if (!names.some((name) => text.includes(name))) continue;
    const isNamed = [...text.matchAll(named)].some(([, specifier = ""]) =>
      specifier.startsWith(".")
        ? stems.has(stemOf(posix.join(path, "..", specifier)))
        : // An alias may lead to it.
          specifier.includes("/"),
    );
    if (isNamed) affected.add(path);
  }
  return affected;
}

/** How others name a file: without its ending, and a main file by its folder. */
function stemOf(path: string): string {
  return path.replace(/\.[\w.]+$/, "").replace(/\/(?:index|main|mod)$/, "");
}
