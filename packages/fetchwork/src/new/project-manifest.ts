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
    ...packagesOf(options, source),
    ...(list === "rows" && { fetchwork: { list } }),
    // The pinned Node is fetched by an install script, which recent versions of npm run for whom they are told to only.
    ...(source.kind !== "workspace" && { allowScripts: { node: true } }),
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

const node = "node -r ./scripts/require-node.cjs";

const ownScripts = {
  dev: `exec ${node} scripts/dev.ts`,
  prod: `NODE_ENV=production MALLOC_ARENA_MAX=1 exec ${node} --max-semi-space-size=4 src/index.ts`,
  test: `${node} node_modules/vitest/vitest.mjs run`,
  coverage: `${node} node_modules/vitest/vitest.mjs run --coverage.enabled --coverage.include=src`,
  lint: "node scripts/require-node.cjs && tsc && oxlint --max-warnings=0 src",
  docs: `${node} scripts/docs.ts`,
};

/** Scripts of an example in the repository, which runs the sources of the packages. */
function workspaceScripts(name: string): Readonly<Record<string, string>> {
  const root = "../..";
  const required = `-r ${root}/scripts/require-node.cjs`;
  const onSources = `${required} --conditions=@fetchwork/source`;
  const vitest = `node ${required} ${root}/node_modules/vitest/vitest.mjs run --root ${root}`;
  const folder = `examples/${name}`;
  const coverage = `--coverage.enabled --coverage.include=${folder}/src --coverage.reportsDirectory=${folder}/coverage`;
  return {
    dev: `exec node ${onSources} scripts/dev.ts`,
    prod: `NODE_ENV=production MALLOC_ARENA_MAX=1 exec node ${required} --max-semi-space-size=4 --conditions=@fetchwork/source src/index.ts`,
    test: `${vitest} ${folder}`,
    coverage: `${vitest} ${coverage} ${folder}`,
    lint: `node ${root}/scripts/require-node.cjs && npx --yes -p oxlint@1.94.0 oxlint --max-warnings=0 src`,
    docs: `node ${onSources} scripts/docs.ts`,
  };
}

/** Names the packages of Fetchwork that a project imports. */
export function packageNames({ auth, webhooks }: ProjectOptions): readonly string[] {
  const ours = ["documents", "http", "middleware", "rest"];
  if (auth.includes("oidc")) ours.push("oauth2");
  if (webhooks) ours.push("webhooks");
  return ours.map((one) => `@fetchwork/${one}`);
}

function packagesOf(
  options: ProjectOptions,
  source: PackageSource,
): Readonly<Record<"dependencies" | "devDependencies", Readonly<Record<string, string>>>> {
  const { auth, passwordResets } = options;
  // The command backs up and migrates in production, too.
  const command = source.kind === "workspace" ? [] : ["fetchwork"];
  const needed = new Set([...packageNames(options), ...command]);
  const dependencies: Record<string, string> = { pino: "10.4.0", zod: "4.6.7" };
  // For passkeys; it is loaded with the first one.
  if (auth.length > 0) dependencies["@simplewebauthn/server"] = "14.0.3";
  if (passwordResets) dependencies["nodemailer"] = "10.6.0";
  const tools: Record<string, string> = { "@vitest/coverage-v8": "5.1.0", vitest: "5.1.0" };
  if (passwordResets) tools["smtp-server"] = "3.21.6";
  if (source.kind !== "workspace") {
    tools["@types/node"] = "24.19.2";
    tools["node"] = "24.21.0";
    // Of a newer one the registry lacks binaries for some systems, which a lock file that `npm ci` takes must name.
    tools["oxlint"] = "1.89.0";
    tools["typescript"] = "7.0.2";
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
