import type { ProjectFiles, ProjectScript } from "./project-files.ts";
import type { ProjectManifests } from "./project-manifests.ts";
import { AliasResolver } from "./resolve-alias.ts";
import { resolveImport, type Resolved } from "./resolve-import.ts";

/** Finds exported names through re-exports. */
export class ExportLookup {
  readonly #project: ProjectFiles;
  readonly #manifests: ProjectManifests;
  readonly #aliases: AliasResolver;

  constructor(project: ProjectFiles, manifests: ProjectManifests) {
    this.#project = project;
    this.#manifests = manifests;
    this.#aliases = new AliasResolver(project, manifests);
  }

  /** Resolves an import of a script. */
  resolve(script: ProjectScript, specifier: string, how: string): Resolved {
    const { path } = script;
    const alias = how === "url" ? undefined : this.#aliases.resolve(path, specifier);
    if (alias !== undefined) return alias;
    const lenient = how === "require" || this.#isLenient(path);
    const found = resolveImport(path, specifier, this.#project, lenient);
    return found.kind === "missing" ? (this.#aliases.inOtherRoot(path, specifier) ?? found) : found;
  }

  #isLenient(path: string): boolean {
    return /\.(?:[cm]?ts|[jt]sx)$/.test(path) || this.#manifests.hasBundler(path);
  }

  /** Whether a module exports a name; undefined: nobody can tell. */
  exports(
    script: ProjectScript,
    name: string,
    seen: ReadonlySet<string> = new Set(),
  ): boolean | undefined {
    const { facts, path } = script;
    if (seen.has(path)) return false;
    // The default export of CommonJS is `module.exports`, whatever is in it.
    const isCjs = facts.usesCjs !== undefined;
    if (facts.exports.has(name) || (isCjs && name === "default")) return true;
    if (facts.opaque) return undefined;
    let unknown = false;
    for (const specifier of facts.stars) {
      const target = this.resolve(script, specifier, isCjs ? "require" : "import");
      const next = target.kind === "file" ? this.#project.modules.get(target.path) : undefined;
      const below =
        next === undefined ? undefined : this.exports(next, name, new Set([...seen, path]));
      if (below === true) return true;
      unknown ||= below === undefined;
    }
    return unknown ? undefined : false;
  }
}
