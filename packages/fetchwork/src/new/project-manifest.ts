import { VERSION } from "../version.ts";
import type { ProjectOptions } from "./project-options.ts";

/** Where a project gets its packages from. */
export interface PackageSource {
  /** Files in the project, by the name of the package. Default: the registry has it. */
  readonly tarballs?: ReadonlyMap<string, string> | undefined;
  /** Whether the project brings a Node (190 MB) for development. Default: `false`. */
  readonly pinsNode?: boolean | undefined;
}

/** Makes the `package.json` of a project. */
export function projectManifest(options: ProjectOptions, source: PackageSource): string {
  const { name, title, list } = options;
  const manifest = {
    name,
    version: "0.1.0",
    private: true,
    description: `${title}, a REST API made with Fetchwork`,
    type: "module",
    engines: { node: "^22.19.0 || >=24" },
    scripts: ownScripts,
    ...packagesOf(source),
    // An install script fetches the pinned Node. Recent versions of npm run these scripts for
    // listed packages only.
    ...(source.pinsNode === true && { allowScripts: { node: true } }),
    ...(list === "rows" && { fetchwork: { list } }),
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

const ownScripts = {
  dev: "fetchwork-service dev",
  build: "fetchwork-service build",
  preprod: "fetchwork-service build --if-missing",
  prod: "node --max-semi-space-size=4 dist/index.js",
  test: "vitest run",
  coverage: "vitest run --coverage.enabled --coverage.include=src",
  lint: "tsc && oxlint --max-warnings=0 src",
  docs: "fetchwork-service docs",
};

/** Names the packages of Fetchwork that a project imports. */
export const packageNames: readonly string[] = [
  "@fetchwork/rest",
  "@fetchwork/service",
  "@fetchwork/webhooks",
];

/** Names the packages of Fetchwork that a project develops with. */
export const toolNames: readonly string[] = ["@fetchwork/verify"];

function packagesOf(
  source: PackageSource,
): Readonly<Record<"dependencies" | "devDependencies", Readonly<Record<string, string>>>> {
  // The command backs up and migrates in production, too.
  const needed = new Set([...packageNames, "fetchwork"]);
  const dependencies: Record<string, string> = { zod: "4.6.7" };
  const tools: Record<string, string> = {
    "@types/node": "24.19.2",
    "@vitest/coverage-v8": "5.1.0",
    // The registry lacks binaries of newer ones for some systems, which a lock file for `npm ci`
    // must name.
    oxlint: "1.89.0",
    rolldown: "1.2.19",
    typescript: "7.0.2",
    // A peer of Vitest, which npm and pnpm install by themselves.
    vite: "8.3.8",
    vitest: "5.1.0",
  };
  if (source.pinsNode === true) tools["node"] = "24.21.0";
  for (const name of needed) dependencies[name] = VERSION;
  for (const name of toolNames) tools[name] = VERSION;
  // All packages, because they depend on each other.
  for (const [name, file] of source.tarballs ?? []) {
    if (needed.has(name)) dependencies[name] = file;
    else tools[name] = file;
  }
  return { dependencies: sorted(dependencies), devDependencies: sorted(tools) };
}

function sorted(entries: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(entries).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
