import { isObject } from "@fetchwork/kit";
import type { ProjectFiles } from "./project-files.ts";
import type { PackageManifest, ProjectManifests } from "./project-manifests.ts";
import { folderOf, joinPath, pathFrom, resolveImport, type Resolved } from "./resolve-import.ts";

/** Aliases of modules from a configuration: at most one `*` in each and in its targets. */
interface AliasMap {
  /** Folder of the configuration: its aliases are for what is below it. */
  readonly folder: string;
  /** Folders that are one for relative names: `rootDirs` of tsconfig.json. */
  readonly roots: readonly string[];
  readonly entries: readonly (readonly [string, readonly string[]])[];
}

/**
 * Finds the files behind names that are no paths: `paths` of tsconfig.json and jsconfig.json,
 * `imports` of package.json, and packages of the same workspace.
 */
export class AliasResolver {
  readonly #project: ProjectFiles;
  readonly #manifests: ProjectManifests;
  readonly #maps: readonly AliasMap[];

  constructor(project: ProjectFiles, manifests: ProjectManifests) {
    this.#project = project;
    this.#manifests = manifests;
    this.#maps = [...project.json]
      .filter(([path]) => /(?:^|\/)[jt]sconfig(?:\.[\w-]+)?\.json$/.test(path))
      .map(([path, value]) => readPaths(path, value))
      .toSorted((left, right) => right.folder.length - left.folder.length);
  }

  /** Where an alias leads; undefined: it is none that we know. */
  resolve(from: string, specifier: string): Resolved | undefined {
    if (/^(?:\.\.?(?:\/|$)|\/|[a-z][a-z\d+.-]+:)/i.test(specifier)) return undefined;
    return (
      this.#byImports(from, specifier) ??
      this.#byPaths(from, specifier) ??
      this.#bySibling(specifier)
    );
  }

  /** Where a relative name leads from another one of the root folders; undefined: nowhere. */
  inOtherRoot(from: string, specifier: string): Resolved | undefined {
    if (!/^\.\.?\//.test(specifier)) return undefined;
    const target = joinPath(folderOf(from), specifier);
    if (target === undefined) return undefined;
    for (const { roots } of this.#maps) {
      for (const root of roots) {
        const rest = pathFrom(root, target);
        if (rest === undefined || pathFrom(root, from) === undefined) continue;
        const found = this.#first(roots.map((other) => joinPath(other, rest)));
        if (found?.kind === "file" || found?.kind === "other") return found;
      }
    }
    return undefined;
  }

  #byPaths(from: string, specifier: string): Resolved | undefined {
    for (const { folder, entries } of this.#maps) {
      if (pathFrom(folder, from) === undefined) continue;
      for (const [pattern, targets] of entries) {
        const part = matchAlias(pattern, specifier);
        if (part === undefined) continue;
        const found = this.#first(
          targets.map((target) =>
            joinPath(
              folder,
              target.replace("*", () => part),
            ),
          ),
        );
        // `*` alone is asked before packages are, not instead of them.
        if (found?.kind === "file" || !/^\*?$/.test(pattern)) return found;
      }
    }
    return undefined;
  }

  #byImports(from: string, specifier: string): Resolved | undefined {
    if (!specifier.startsWith("#")) return undefined;
    const [manifest] = this.#manifests.above(from);
    return manifest === undefined
      ? undefined
      : this.#byMap(manifest, manifest.value["imports"], specifier);
  }

  #bySibling(specifier: string): Resolved | undefined {
    const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
    const manifest = this.#manifests.all.find((one) => one.name === name);
    if (manifest === undefined) return undefined;
    const { main, module, exports: exported } = manifest.value;
    const below = specifier.slice(name.length);
    const found = isObject(exported)
      ? this.#byMap(manifest, isMap(exported) ? exported : { ".": exported }, `.${below}`)
      : this.#first([
          joinPath(
            folderOf(manifest.path),
            below === "" ? text(exported ?? module ?? main) || "index" : below,
          ),
        ]);
    // A build may make a file that is missing.
    return found?.kind === "file" ? found : undefined;
  }

  #byMap({ path }: PackageManifest, map: unknown, specifier: string): Resolved | undefined {
    if (!isObject(map)) return undefined;
    for (const [pattern, value] of Object.entries(map)) {
      const part = matchAlias(pattern, specifier);
      const target = part === undefined ? "" : targetOf(value).replaceAll("*", () => part);
      if (target.startsWith("./")) return this.#first([joinPath(folderOf(path), target)]);
    }
    return undefined;
  }

  /** The first that is there, or that is missing for certain. */
  #first(paths: readonly (string | undefined)[]): Resolved | undefined {
    const resolved = paths.flatMap((path) =>
      path === undefined ? [] : [resolveImport("", `./${path}`, this.#project, true)],
    );
    return (
      resolved.find(({ kind }) => kind === "file") ??
      resolved.find(({ kind }) => kind === "other") ??
      resolved[0]
    );
  }
}

function readPaths(path: string, value: Readonly<Record<string, unknown>>): AliasMap {
  const { compilerOptions } = value;
  const { baseUrl, paths, rootDirs } = isObject(compilerOptions) ? compilerOptions : {};
  const folder = folderOf(path);
  const base = text(baseUrl);
  const entries = Object.entries(isObject(paths) ? paths : {}).map(([pattern, targets]) => {
    const list = Array.isArray(targets) ? targets.map(text) : [];
    return [pattern, list.map((target) => `${base === "" ? "." : base}/${target}`)] as const;
  });
  const roots = (Array.isArray(rootDirs) ? rootDirs : []).flatMap(
    (root) => joinPath(folder, text(root)) ?? [],
  );
  return { folder, entries, roots };
}

/** Text in place of the `*`; empty for a pattern without one; undefined: the name differs. */
function matchAlias(pattern: string, specifier: string): string | undefined {
  const star = pattern.indexOf("*");
  if (star === -1) return pattern === specifier ? "" : undefined;
  const [start, end] = [pattern.slice(0, star), pattern.slice(star + 1)];
  const fits =
    specifier.length >= start.length + end.length &&
    specifier.startsWith(start) &&
    specifier.endsWith(end);
  return fits ? specifier.slice(start.length, specifier.length - end.length) : undefined;
}

/** Whether an `exports` names sub-paths; else it is the conditions of the package itself. */
function isMap(exported: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(exported).every((key) => key.startsWith("."));
}

/** The target of an entry; of conditions the first that leads somewhere. */
function targetOf(value: unknown, depth = 0): string {
  if (typeof value === "string") return value;
  if (!isObject(value) || depth === 4) return "";
  for (const [condition, one] of Object.entries(value)) {
    const target = condition === "types" ? "" : targetOf(one, depth + 1);
    if (target !== "") return target;
  }
  return "";
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
