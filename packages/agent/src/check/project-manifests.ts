import { isObject } from "@fetchwork/kit";
import type { ProjectFiles } from "./project-files.ts";
import { folderOf, pathFrom } from "./resolve-import.ts";

/** Facts about a package.json. */
export interface PackageManifest {
  readonly path: string;
  readonly name: string | undefined;
  readonly isModule: boolean;
  /** Every package that it names, for whatever purpose. */
  readonly dependencies: ReadonlySet<string>;
  readonly value: Readonly<Record<string, unknown>>;
}

const bundlers =
  /^(?:vite|vite-plus|webpack|rollup|rolldown|parcel|esbuild|tsup|tsx|ts-node|next|nuxt|astro|@sveltejs\/kit|react-scripts|@angular\/cli|@rspack\/core|snowpack|browserify|@babel\/core|jest|vitest|bun|@types\/bun|expo|metro|gatsby|@remix-run\/dev)$/;

/** The package.json files of a project; the nearest one above a file counts for it. */
export class ProjectManifests {
  readonly #manifests: ReadonlyMap<string, PackageManifest>;
  /** Names that the deno.json of a folder has for modules. */
  readonly #imports: ReadonlyMap<string, ReadonlySet<string>>;

  constructor(project: ProjectFiles) {
    const entries = [...project.json].filter(([path]) => /(?:^|\/)package\.json$/.test(path));
    this.#manifests = new Map(
      entries.map(([path, value]) => [folderOf(path), readManifest(path, value)]),
    );
    this.#imports = new Map(
      [...project.json]
        .filter(([path]) => /(?:^|\/)deno(?:\.[\w-]+)?\.jsonc?$/.test(path))
        .map(([path, { imports }]) => [
          folderOf(path),
          new Set(isObject(imports) ? Object.keys(imports) : []),
        ]),
    );
  }

  /** Whether a deno.json above the file names a module, or a folder that it is in. */
  isOfDeno(path: string, specifier: string): boolean {
    return [...this.#imports].some(
      ([folder, names]) =>
        pathFrom(folder, path) !== undefined &&
        [...names].some(
          (name) =>
            specifier === name || specifier.startsWith(name.endsWith("/") ? name : `${name}/`),
        ),
    );
  }

  get all(): readonly PackageManifest[] {
    return [...this.#manifests.values()];
  }

  /** The manifests that count for a file, the nearest first. */
  above(path: string): readonly PackageManifest[] {
    const found: PackageManifest[] = [];
    for (let folder = folderOf(path); ; folder = folderOf(folder)) {
      const manifest = this.#manifests.get(folder);
      if (manifest !== undefined) found.push(manifest);
      if (folder === "") return found;
    }
  }

  /**
   * The manifests whose packages a file finds: those above it, and in a workspace of npm all, since
   * its packages are installed in one folder.
   */
  naming(path: string): readonly PackageManifest[] {
    const isWorkspace = this.#manifests.get("")?.value["workspaces"] !== undefined;
    return isWorkspace ? this.all : this.above(path);
  }

  /** Whether something resolves imports before the start, so that extensions may be missing. */
  hasBundler(path: string): boolean {
    return this.above(path).some(({ dependencies }) =>
      [...dependencies].some((name) => bundlers.test(name)),
    );
  }
}

function readManifest(path: string, value: Readonly<Record<string, unknown>>): PackageManifest {
  const kinds = ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"];
  const named = kinds.flatMap((kind) => (isObject(value[kind]) ? Object.keys(value[kind]) : []));
  return {
    path,
    name: typeof value["name"] === "string" ? value["name"] : undefined,
    isModule: value["type"] === "module",
    dependencies: new Set(named),
    value,
  };
}
