import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { camelOf } from "./resource-names.ts";
import { listText } from "./source-text.ts";

/** Definitions in the sources of a project, by the names of its folders and files. */
export interface ProjectParts {
  /** Folders of `src/api` with a model: `blog-post`. Their `index.ts` exports `blogPostRoutes`. */
  readonly resources: readonly string[];
  /** Folders of `src/api` with routes alone. */
  readonly routes: readonly string[];
  /** Files of `src/jobs`, without `.ts`: `nightly-report` exports `nightlyReport`. */
  readonly jobs: readonly string[];
  /** Files of `src/receivers`, without `.ts`. */
  readonly receivers: readonly string[];
}

/** Folders whose routes the accounts bring. */
const ownFolders: ReadonlySet<string> = new Set(["auth", "user"]);

/** Finds the parts of a project, each list in alphabetical order. */
export function findParts(project: string): ProjectParts {
  const api = join(project, "src/api");
  const folders = entriesOf(api, /^([a-z][a-z\d-]*)$/).filter(
    (name) =>
      !ownFolders.has(name) &&
      exportsConstant(join(api, name, "index.ts"), `${camelOf(name)}Routes`),
  );
  const hasModel = (name: string): boolean =>
    exportsConstant(join(api, name, "model.ts"), camelOf(name));
  return {
    resources: folders.filter(hasModel),
    routes: folders.filter((name) => !hasModel(name)),
    jobs: constantsOf(join(project, "src/jobs")),
    receivers: constantsOf(join(project, "src/receivers")),
  };
}

/** Files of a folder that export a constant of their name. */
function constantsOf(folder: string): readonly string[] {
  return entriesOf(folder, /^([a-z][a-z\d-]*)\.ts$/).filter((name) =>
    exportsConstant(join(folder, `${name}.ts`), camelOf(name)),
  );
}

function entriesOf(folder: string, pattern: RegExp): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .flatMap((name) => pattern.exec(name)?.[1] ?? [])
    .toSorted();
}

function exportsConstant(file: string, name: string): boolean {
  const pattern = new RegExp(`^export const ${name}\\b`, "m");
  return existsSync(file) && pattern.test(readFileSync(file, "utf8"));
}

/** Writes `src/api/index.ts`, which lists the parts of a project. */
export function apiIndex({ jobs, receivers, resources, routes }: ProjectParts): string {
  const imports = [
    ...jobs.map((name) => `import { ${camelOf(name)} } from "../jobs/${name}.ts";\n`),
    ...receivers.map((name) => `import { ${camelOf(name)} } from "../receivers/${name}.ts";\n`),
    ...[...resources, ...routes]
      .toSorted()
      .map((name) => `import { ${routesOf(name)} } from "./${name}/index.ts";\n`),
  ];
  const about =
    "// `fetchwork add` writes this file: what src/api, src/jobs and src/receivers export.";
  return `${about}
${imports.join("")}
/** Routes of each resource. */
${list("resources", resources.map(routesOf))}

/** Routes that belong to no resource. */
${list(
  "routes",
  routes.map((name) => `...${routesOf(name)}`),
)}

/** Jobs, which run without a request. */
${list("jobs", jobs.map(camelOf))}

/** Receivers of webhooks of other services. */
${list("receivers", receivers.map(camelOf))}
`;
}

/** The constant with the routes of a folder. */
function routesOf(name: string): string {
  return `${camelOf(name)}Routes`;
}

function list(name: string, items: readonly string[]): string {
  return listText(items, { head: `export const ${name} = `, tail: " as const;" });
}
