import { modelFile } from "./model-file.ts";
import type { ResourceDefinition } from "./resource-definition.ts";
import { listText } from "./source-text.ts";
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

${call({ name: `${camel}Controller`, called: "createResourceController", with: [camel] })}
`;
}

function indexFile(camel: string): string {
  return `import { resourceRoutes } from "@fetchwork/rest";
import { ${camel}Controller } from "./controller.ts";
import { ${camel} } from "./model.ts";

${call({ name: `${camel}Routes`, called: "resourceRoutes", with: [camel, `${camel}Controller`] })}
`;
}

/** A constant that a call yields. */
function call({
  name,
  called,
  with: given,
}: {
  readonly name: string;
  readonly called: string;
  readonly with: readonly string[];
}): string {
  const head = `export const ${name} = ${called}`;
  return listText(given, { head, brackets: ["(", ")"], tail: ";" });
}
