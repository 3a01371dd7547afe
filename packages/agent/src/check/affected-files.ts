import { isScript } from "./parse-script.ts";

/** Programs with no more scripts are checked whole. */
const small = 100;

/** What all files of a program may depend on. */
const isShared = /\.(?:json|jsonc|html?|css|webmanifest|vue|svelte)$|\.d\.[cm]?ts$/i;

/**
 * The scripts in which a change of some files can make a fault: they, and those that name one of them, as whoever imports it
 * does.
 *
 * @returns undefined: any file of the program
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
  const names = [...new Set(changed.filter(isScript).map(nameOf))];
  const affected = new Set(changed);
  for (const [path, text] of scripts) {
    if (names.some((name) => text.includes(name))) affected.add(path);
  }
  return affected;
}

/** How others name a file: its own name, or its folder's where that stands for it. */
function nameOf(path: string): string {
  const [name = "", folder] = path.split("/").toReversed();
  const stem = name.replace(/\.[^.]+$/, "");
  return stem === "index" || stem === "main" || stem === "mod" ? (folder ?? stem) : stem;
}
