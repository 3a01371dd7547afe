import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Entries of `@fetchwork/rest` from which written-out code imports, and their files. */
const entries: readonly (readonly [specifier: string, file: string])[] = [
  ["@fetchwork/rest", "index.ts"],
  ["@fetchwork/rest/handlers", "handlers/index.ts"],
  ["@fetchwork/rest/accounts", "accounts/index.ts"],
];

/** Reads which entry of the package exports each name. */
export function publicNames(source: string): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const [specifier, file] of entries) {
    const text = readFileSync(join(source, file), "utf8");
    for (const [, list = ""] of text.matchAll(/^export (?:type )?\{([^}]*)\} from/gm)) {
      for (const name of namesIn(list)) if (!names.has(name)) names.set(name, specifier);
    }
  }
  return names;
}

/** Names in the braces of an import or an export, without `type`. */
export function namesIn(list: string): readonly string[] {
  return list.split(",").flatMap((one) => one.trim().replace(/^type /, "") || []);
}
