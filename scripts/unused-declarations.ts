import { globSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { readSource } from "./source-imports.ts";

/** The field of a `package.json` by which others import the package. */
interface ImportedManifest {
  readonly exports?: Readonly<Record<string, string | { readonly types?: string }>>;
}

/**
 * Removes the declarations that no entry of a package needs, from a copy of a built package, which
 * is then packed. They are half of all declarations.
 */
export function removeUnusedDeclarations(copy: string): void {
  const manifest = JSON.parse(readFileSync(join(copy, "package.json"), "utf8")) as ImportedManifest;
  const open = Object.values(manifest.exports ?? {}).flatMap((target) =>
    typeof target === "string" || target.types === undefined ? [] : [join(copy, target.types)],
  );
  const used = new Set<string>();
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (used.has(file)) continue;
    used.add(file);
    for (const specifier of readSource(file, readFileSync(file, "utf8")).imports) {
      if (!specifier.startsWith(".")) continue;
      open.push(resolve(file, "..", specifier.replace(/\.[jt]s$/, ".d.ts")));
    }
  }
  for (const file of globSync("dist/**/*.d.ts", { cwd: copy })) {
    if (!used.has(join(copy, file))) rmSync(join(copy, file));
  }
}
