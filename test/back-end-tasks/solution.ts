/** What is replaced in a file of a solution. */
export interface Mistake {
  readonly path: string;
  /** A part of the file. Default: the whole file. */
  readonly search?: string | undefined;
  /** `undefined`: the file is removed. */
  readonly replace: string | undefined;
}

/** How a task is done, and how models get it wrong. */
export interface Solution {
  /** Files that are added or replaced, by path. */
  readonly right: Readonly<Record<string, string>>;
  /** Changes of those files that are mistakes, by what is wrong. */
  readonly wrong: Readonly<Record<string, readonly Mistake[]>>;
}

/** The solutions of some tasks, by their names. */
export type Solutions = Readonly<Record<string, Solution>>;

/** The index of a resource with one more route. */
export function indexWithRoute(name: string, route: string): string {
  return `import { resourceRoutes } from "@fetchwork/rest";
import { ${name} } from "./model.ts";
import { ${route} } from "./route.ts";

export const ${name}Routes = [...resourceRoutes(${name}), ${route}];
`;
}

/** The index of a resource with the standard routes. */
export function plainIndex(name: string): string {
  return `import { resourceRoutes } from "@fetchwork/rest";
import { ${name} } from "./model.ts";

export const ${name}Routes = [...resourceRoutes(${name})];
`;
}

/** The files of a resource that is new. */
export function newResource(name: string, model: string): Readonly<Record<string, string>> {
  return { [`src/api/${name}/model.ts`]: model, [`src/api/${name}/index.ts`]: plainIndex(name) };
}
