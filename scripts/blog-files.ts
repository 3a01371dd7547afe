import { addResource } from "../packages/fetchwork/src/add/add-resource.ts";
import { definitionOf } from "../packages/fetchwork/src/add/add.ts";
import { projectFiles } from "../packages/fetchwork/src/new/project-files.ts";
import type { ProjectOptions } from "../packages/fetchwork/src/new/project-options.ts";

/**
 * The words that make the blog: `fetchwork new blog --password-resets --webhooks`.
 */
const options: ProjectOptions = {
  name: "blog",
  title: "Blog",
  database: "sqlite",
  hasUsers: true,
  passwordResets: true,
  webhooks: true,
  list: "array",
  port: 9000,
};

/**
 * And `fetchwork add article title:string!:search,sort content:text:search --owner-field author`.
 */
const article = {
  name: "article",
  fields: ["title:string!:search,sort", "content:text:search"],
  options: { "owner-field": "author" },
};

/** Files of the blog that its commands make; its others are tests of the repository. */
export async function blogFiles(): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const [path, { text }] of await projectFiles(options, {})) {
    if (!rootFiles.has(path))
      files.set(path, path === "package.json" ? exampleManifest(text) : text);
  }
  const definition = definitionOf(article, { hasUsers: true, hasWebhooks: true, list: "array" });
  for (const [path, text] of addResource(definition, {
    parts: { jobs: [], receivers: [], resources: [], routes: [] },
    read: (path) => files.get(path),
  })) {
    files.set(path, text);
  }
  return files;
}

/** Files that examples do not have: their root has them, or they are secret. */
const rootFiles: ReadonlySet<string> = new Set([
  ".env",
  ".gitignore",
  "tsconfig.json",
  "vitest.config.ts",
]);

/** The manifest of a project as an example has it, which runs the sources of the packages. */
function exampleManifest(text: string): string {
  const manifest = JSON.parse(text) as Readonly<
    Record<"dependencies" | "devDependencies", Readonly<Record<string, string>>> &
      Record<"description" | "name", string>
  >;
  const { fetchwork: _command, ...dependencies } = manifest.dependencies;
  const tools = Object.entries(manifest.devDependencies).filter(([name]) => /vitest/.test(name));
  const own = Object.entries(manifest).flatMap((entry) =>
    entry[0] === "description" ? [entry, ["license", "MIT"] as const] : [entry],
  );
  const example = {
    ...Object.fromEntries(own),
    scripts: exampleScripts(manifest.name),
    dependencies,
    devDependencies: Object.fromEntries(tools),
  };
  return `${JSON.stringify(example, null, 2)}\n`;
}

/** Scripts of an example. */
function exampleScripts(name: string): Readonly<Record<string, string>> {
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
