import { existsSync, globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { readSource, type SourceFacts } from "./source-imports.ts";

/** The fields of a `package.json` that the rules of this workspace are about. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly description?: string;
  readonly keywords?: readonly string[];
  readonly engines?: Readonly<Record<string, string>>;
  readonly files?: readonly string[];
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly imports?: Readonly<Record<string, unknown>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** One module under a package's `src`. */
export interface SourceFile extends SourceFacts {
  /** Relative to the package, with slashes: `src/node/index.ts`. */
  readonly path: string;
}

/** One folder of `packages/` or `examples/`. */
export interface WorkspacePackage {
  /** Relative to the root: `packages/http`. */
  readonly folder: string;
  readonly manifest: Manifest;
  readonly sources: readonly SourceFile[];
}

/** The root of the repository. */
export const root: string = resolve(import.meta.dirname, "..");

/**
 * Reads the packages below `packages` or `examples`; a folder without a `package.json` is an error.
 */
export function readPackages(parent: "packages" | "examples"): readonly WorkspacePackage[] {
  const folders = globSync(`${parent}/*/`, { cwd: root }).map((folder) =>
    folder.replace(/\/$/, ""),
  );
  return folders.toSorted().map((folder) => ({
    folder,
    manifest: readManifest(folder),
    sources: globSync(`${folder}/src/**/*.ts`, { cwd: root })
      .toSorted()
      .map((path) => ({
        path: path.slice(folder.length + 1),
        ...readSource(path, readText(path)),
      })),
  }));
}

/** Reads the `package.json` of a folder below the root. */
export function readManifest(folder: string): Manifest {
  return JSON.parse(readText(join(folder, "package.json"))) as Manifest;
}

/**
 * The paths of the Markdown pages of the packages: READMEs, skills, and the guides in
 * `docs/<package>/`.
 */
export function packagePages(name = "*"): readonly string[] {
  const pages = `{packages/${name}/README.md,packages/${name}/skills/*/SKILL.md,docs/${name}/*.md}`;
  return globSync(pages, { cwd: root })
    .filter((path) => !/^docs\/(?:conformance|decisions)\//.test(path))
    .toSorted();
}

/**
 * Reads a file below the root. A missing one is an empty text, so that each rule says what it
 * misses.
 */
export function readText(path: string): string {
  const file = join(root, path);
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}
