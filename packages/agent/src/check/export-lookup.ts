import type { ProjectFiles, ProjectScript } from "./project-files.ts";
import type { ProjectManifests } from "./project-manifests.ts";
import type { Declared } from "./module-facts.ts";
import { AliasResolver } from "./resolve-alias.ts";
import { resolveImport, type Resolved } from "./resolve-import.ts";

/** What an exported name is: there, not there, or nobody can tell. */
export type Lookup =
  | { readonly found: true; readonly script: ProjectScript; readonly local: string | undefined }
  | { readonly found: false }
  | undefined;

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
    return resolveImport(path, specifier, this.#project, { lenient });
  }

  #isLenient(path: string): boolean {
    return /\.(?:[cm]?ts|[jt]sx)$/.test(path) || this.#manifests.hasBundler(path);
  }

  /** The module at a path, if it is one. */
  module(path: string): ProjectScript | undefined {
    return this.#project.modules.get(path);
  }

  /** Looks for what a module exports under a name. */
  find(script: ProjectScript, name: string, seen: ReadonlySet<string> = new Set()): Lookup {
    const { facts, path } = script;
    if (seen.has(path)) return { found: false };
    if (facts.exports.has(name)) return { found: true, script, local: facts.exports.get(name) };
    // The default export of CommonJS is `module.exports`, whatever is in it.
    const isCjs = facts.usesCjs !== undefined;
    if (isCjs && (name === "default" || name === "module.exports")) {
      return { found: true, script, local: facts.exports.get("module.exports") };
    }
    if (name === "module.exports") return undefined;
    if (facts.opaque) return undefined;
    let unknown = false;
    for (const specifier of facts.stars) {
      const target = this.resolve(script, specifier, isCjs ? "require" : "import");
      const next = target.kind === "file" ? this.module(target.path) : undefined;
      const below =
        next === undefined ? undefined : this.find(next, name, new Set([...seen, path]));
      if (below?.found === true) return below;
      unknown ||= below === undefined;
    }
    return unknown ? undefined : { found: false };
  }

  /** What is declared behind a name that a script imported or declared itself, if that is certain. */
  declared(script: ProjectScript, name: string): Declared | undefined {
    if (script.facts.declared.get(name) !== 1) return undefined;
    const imported = script.facts.importedAs.get(name);
    if (imported === undefined) return script.facts.topLevel.get(name);
    const target = this.resolve(script, imported.specifier, "require");
    const module = target.kind === "file" ? this.module(target.path) : undefined;
    const lookup = module === undefined ? undefined : this.find(module, imported.name);
    if (lookup?.found !== true || lookup.local === undefined) return undefined;
    const { script: owner, local } = lookup;
    const direct = owner.facts.topLevel.get(local);
    if (direct !== undefined) {
      return (owner.facts.declared.get(local) ?? 1) === 1 ? direct : undefined;
    }
    return owner === script ? undefined : this.declared(owner, local);
  }

  /** Names that a module exports, for a hint. */
  names(script: ProjectScript): readonly string[] {
    return [...script.facts.exports.keys()].filter((name) => name !== "module.exports");
  }
}
