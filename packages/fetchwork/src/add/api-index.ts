import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { camelOf } from "./resource-names.ts";
import { listText } from "./source-text.ts";

/** A folder in `src/api` with a resource and its routes, or with routes alone. */
export interface ApiFolder {
  /** Name of the folder: `blog-post`. Its `index.ts` exports `blogPostRoutes`. */
  readonly name: string;
  /** Whether its `model.ts` exports a definition, `blogPost`. */
  readonly hasModel: boolean;
}

/** Folders whose routes the accounts bring. */
const ownFolders: ReadonlySet<string> = new Set(["auth", "user"]);

/** Finds the folders of `src/api` whose `index.ts` exports routes, in alphabetical order. */
export function apiFolders(api: string): readonly ApiFolder[] {
  return readdirSync(api, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && /^[a-z][a-z\d-]*$/.test(entry.name))
    .map(({ name }) => name)
    .filter((name) => !ownFolders.has(name))
    .filter((name) => exportsConstant(join(api, name, "index.ts"), `${camelOf(name)}Routes`))
    .toSorted()
    .map((name) => ({
      name,
      hasModel: exportsConstant(join(api, name, "model.ts"), camelOf(name)),
    }));
}

function exportsConstant(file: string, name: string): boolean {
  const pattern = new RegExp(`^export const ${name}\\b`, "m");
  return existsSync(file) && pattern.test(readFileSync(file, "utf8"));
}

/** Writes `src/api/index.ts`, which lists the resources and routes of a project. */
export function apiIndex(folders: readonly ApiFolder[], hasUsers: boolean): string {
  const imports = folders.flatMap(({ name, hasModel }) => [
    `import { ${camelOf(name)}Routes } from "./${name}/index.ts";`,
    ...(hasModel ? [`import { ${camelOf(name)} } from "./${name}/model.ts";`] : []),
  ]);
  const user = `import { user } from "./user/model.ts";`;
  const lines = [
    `import type { Resource, Route } from "@fetchwork/rest";`,
    ...(hasUsers ? [`import type { AccountRoute } from "@fetchwork/rest/accounts";`] : []),
    ...(hasUsers ? [...imports, user].toSorted(byPath) : imports),
  ];
  const models = folders.filter(({ hasModel }) => hasModel).map(({ name }) => camelOf(name));
  const resources = listText(hasUsers ? ["user", ...models] : models, {
    head: "export const resources: readonly Resource[] = ",
    tail: ";",
  });
  const routes = listText(
    folders.map(({ name }) => `...${camelOf(name)}Routes`),
    { head: "export const routes = ", tail: " satisfies readonly Route[];" },
  );
  const all = hasUsers ? "readonly (AccountRoute | (typeof routes)[number])[]" : "typeof routes";
  return `// \`fetchwork add\` writes this file as a whole: what \`index.ts\` of each folder exports as \`<name>Routes\`, and its model.
${lines.join("\n")}

/** Resources whose documents are stored. */
${resources}

/** Routes that need nothing but the store. */
${routes}

/** The routes as a typed client knows them: \`createClient<ApiRoutes>\`. */
export type ApiRoutes = ${all};
`;
}

function byPath(one: string, other: string): number {
  return pathOf(one) < pathOf(other) ? -1 : 1;
}

function pathOf(line: string): string {
  return /"([^"]+)"/.exec(line)?.[1] ?? "";
}
