import { posix } from "node:path";
import { parseSync } from "rolldown/utils";
import { readText, type WorkspacePackage } from "./workspace-packages.ts";

/** One name that an entry of a package exports. */
export interface ExportedName {
  readonly name: string;
  /** The entry that exports it, as its users write it: `@fetchwork/http/serve`. */
  readonly entry: string;
  /** The file that declares it and its name there: `packages/http/src/exchange/wrap.ts#wrap`. */
  readonly declaration: string;
}

/** Lists what every entry of the packages exports, each name with the place of its declaration. */
export function exportedNames(packages: readonly WorkspacePackage[]): readonly ExportedName[] {
  const entryFiles = new Map(packages.flatMap((pkg) => entriesOf(pkg)));
  return packages.flatMap((pkg) =>
    entriesOf(pkg).flatMap(([entry, file]) =>
      [...exportsOf(file)].map(([name, source]) => ({
        name,
        entry,
        declaration: declarationOf(file, name, source, entryFiles),
      })),
    ),
  );
}

/** `[specifier, source file]` for each entry of a package that is a module. */
export function entriesOf({
  folder,
  manifest,
}: WorkspacePackage): readonly (readonly [string, string])[] {
  return Object.entries(manifest.exports ?? {}).flatMap(([subpath, target]) => {
    const source = typeof target === "string" ? target : target["@fetchwork/source"];
    if (!source?.endsWith(".ts")) return [];
    return [[manifest.name + subpath.slice(1), posix.join(folder, source)] as const];
  });
}

/** Where a re-exported name comes from. */
interface Source {
  readonly specifier: string;
  readonly name: string;
}

/** The names that a file exports, with their source where they are re-exported. */
function exportsOf(file: string): ReadonlyMap<string, Source | undefined> {
  const names = new Map<string, Source | undefined>();
  const { module } = parseSync(file, readText(file));
  const imported = new Map(
    module.staticImports.flatMap(({ moduleRequest, entries }) =>
      entries.map(({ localName, importName }) => [
        localName.value,
        { specifier: moduleRequest.value, name: importName.name ?? "default" },
      ]),
    ),
  );
  for (const { entries } of module.staticExports) {
    for (const { exportName, importName, localName, moduleRequest } of entries) {
      const name = exportName.name ?? "default";
      const source = moduleRequest
        ? { specifier: moduleRequest.value, name: importName.name ?? name }
        : imported.get(localName.name ?? "");
      names.set(name, source);
    }
  }
  return names;
}

function declarationOf(
  file: string,
  name: string,
  source: Source | undefined,
  entryFiles: ReadonlyMap<string, string>,
): string {
  if (!source) return `${file}#${name}`;
  const next = source.specifier.startsWith(".")
    ? posix.join(posix.dirname(file), source.specifier)
    : entryFiles.get(source.specifier);
  if (!next) return `${source.specifier}#${source.name}`;
  return declarationOf(next, source.name, exportsOf(next).get(source.name), entryFiles);
}
