import { VERSION } from "../version.ts";
import type { PackageSource } from "./package-source.ts";
import type { ProjectOptions } from "./project-options.ts";

/** Makes the `package.json` of a project. */
export function projectManifest(options: ProjectOptions, source: PackageSource): string {
  const { name, title, list } = options;
  const manifest = {
    name,
    version: "0.1.0",
    private: true,
    description: `${title}, a REST API made with Fetchwork`,
    ...(source.kind === "workspace" && { license: "MIT" }),
    type: "module",
    engines: { node: "^22.19.0 || >=24" },
    scripts: source.kind === "workspace" ? workspaceScripts(name) : ownScripts,
    ...packagesOf(source),
    // The pinned Node is fetched by an install script, which recent versions of npm run for whom they are told to only.
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

/** Scripts of an example in the repository, which runs the sources of the packages. */
function workspaceScripts(name: string): Readonly<Record<string, string>> {
  const root = "../..";
  const required = `-r ${root}/scripts/require-node.cjs`;
  const onSources = `${required} --conditions=@fetchwork/source`;
  const service = `${root}/packages/service/bin/fetchwork-service.mjs`;
  const vitest = `node ${required} ${root}/node_modules/vitest/vitest.mjs run --root ${root}`;
  const folder = `examples/${name}`;
  const coverage = `--coverage.enabled --coverage.include=${folder}/src --coverage.reportsDirectory=${folder}/coverage`;
  return {
    dev: `node ${onSources} ${service} dev --watch ${root}/packages`,
    build: `node ${onSources} ${service} build`,
    prod: `node ${required} ${root}/scripts/with-environment.mjs NODE_ENV=production MALLOC_ARENA_MAX=1 -- --max-semi-space-size=4 --conditions=@fetchwork/source src/index.ts`,
    test: `${vitest} ${folder}`,
    coverage: `${vitest} ${coverage} ${folder}`,
    lint: `node ${root}/scripts/require-node.cjs && npx --yes -p oxlint@1.94.0 oxlint --max-warnings=0 src`,
    docs: `node ${onSources} ${service} docs`,
  };
}

/** Names the packages of Fetchwork that a project imports. */
export const packageNames: readonly string[] = [
  "@fetchwork/rest",
  "@fetchwork/service",
  "@fetchwork/webhooks",
];

function packagesOf(
  source: PackageSource,
): Readonly<Record<"dependencies" | "devDependencies", Readonly<Record<string, string>>>> {
  // The command backs up and migrates in production, too.
  const needed = new Set([...packageNames, ...(source.kind === "workspace" ? [] : ["fetchwork"])]);
  const dependencies: Record<string, string> = { zod: "4.6.7" };
  const tools: Record<string, string> = { "@vitest/coverage-v8": "5.1.0", vitest: "5.1.0" };
  if (source.pinsNode === true) dependencies["node"] = "24.21.0";
  if (source.kind !== "workspace") {
    tools["@types/node"] = "24.19.2";
    // Of a newer one the registry lacks binaries for some systems, which a lock file that `npm ci` takes must name.
    tools["oxlint"] = "1.89.0";
    tools["rolldown"] = "1.2.19";
    tools["typescript"] = "7.0.2";
    // A peer of Vitest, which npm and pnpm install by themselves.
    tools["vite"] = "8.3.8";
  }
  for (const name of needed) dependencies[name] = VERSION;
  if (source.kind === "tarballs") {
    // All packages, because they depend on each other.
    for (const [name, file] of source.files) {
      if (needed.has(name)) dependencies[name] = file;
      else tools[name] = file;
    }
  }
  return { dependencies: sorted(dependencies), devDependencies: sorted(tools) };
}

function sorted(entries: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(entries).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
