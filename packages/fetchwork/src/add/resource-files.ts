import { modelFile } from "./model-file.ts";
import type { ResourceDefinition } from "./resource-definition.ts";
import { testFile } from "./test-file.ts";

/** Writes the files of a resource, by their paths in the project. */
export function resourceFiles(definition: ResourceDefinition): ReadonlyMap<string, string> {
  const { camel, kebab } = definition.names;
  const folder = `src/api/${kebab}`;
  return new Map([
    [`${folder}/controller.ts`, controllerFile(camel)],
    [`${folder}/index.ts`, indexFile(camel)],
    [`${folder}/model.ts`, modelFile(definition)],
    [`${folder}/${kebab}.test.ts`, testFile(definition)],
  ]);
}

/** Writes `controller.ts` as it is before anybody has changed it. */
export function controllerFile(camel: string): string {
  return `import { createResourceController } from "@fetchwork/rest";
import { ${camel} } from "./model.ts";

export const ${camel}Controller = createResourceController(${camel});
`;
}

function indexFile(camel: string): string {
  return `import { resourceRoutes } from "@fetchwork/rest";
import { ${camel}Controller } from "./controller.ts";
import { ${camel} } from "./model.ts";

export const ${camel}Routes = resourceRoutes(${camel}, ${camel}Controller);
`;
}
