import type { CheckedService } from "./checked-service.ts";

/** A small change of a project made by Fetchwork, with a check that the model does not see. */
export interface BackEndTask {
  readonly name: string;
  /** What a product owner asks for. */
  readonly request: string;
  /** What the project has next to what `fetchwork new` makes, by path. Default: nothing. */
  readonly files?: Readonly<Record<string, string>> | undefined;
  /**
   * Settings of the service while it is checked, by the names of their variables. Default: none.
   */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /** Rejects where the task is not done. */
  readonly check: (service: CheckedService) => Promise<void>;
}

/** The files of a resource: its model, and the standard routes. */
export function resourceFiles(name: string, model: string): Readonly<Record<string, string>> {
  return {
    [`src/api/${name}/model.ts`]: model,
    [`src/api/${name}/index.ts`]: `import { resourceRoutes } from "@fetchwork/rest";
import { ${name} } from "./model.ts";

export const ${name}Routes = [...resourceRoutes(${name})];
`,
  };
}
