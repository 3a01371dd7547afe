import { listText } from "../add/source-text.ts";
import {
  createHandler,
  listHandler,
  removeHandler,
  restoreHandler,
  showHandler,
  updateHandlers,
} from "./ejected-handlers.ts";
import type { Features } from "./features.ts";

/** What handlers use of `@fetchwork/http` and `@fetchwork/rest`. */
const modules: readonly (readonly [module: string, names: readonly string[]])[] = [
  ["@fetchwork/http", ["empty", "json"]],
  [
    "@fetchwork/rest",
    ["type Fields", "type Resource", "type ResourceCall", "type ResourceController"],
  ],
  [
    "@fetchwork/rest/handlers",
    [
      "afterChange",
      "changeDocument",
      "checkReferences",
      "createPageFinder",
      "createQueryReader",
      "documentAnswer",
      "hiddenFields",
      "mergePatch",
      "noneMatchHolds",
      "notFound",
      "pageAnswer",
      "populate",
      "readPopulate",
      "readShownFields",
      "refuseConflicts",
      "releaseReferences",
      "requireAccess",
      "requirePreconditions",
      "requireTrash",
      "showDocument",
      "validateChange",
      "view",
      "withOwners",
      "without",
      "writeTogether",
    ],
  ],
];

/** Members of a resource, as handlers call them. */
const members = [
  "collection",
  "hooks",
  "nullable",
  "path",
  "present",
  "readOnly",
  "reserved",
  "schema",
  "tagOf",
] as const;

/** Writes `controller.ts` with every handler in full, formatted as Prettier does. */
export function ejectedController(camel: string, features: Features): string {
  const { update, patch, change } = updateHandlers(features);
  const handlers = [
    listHandler(features),
    showHandler(features),
    createHandler(features),
    update,
    patch,
    removeHandler(features),
    ...(features.softDelete ? [restoreHandler(features)] : []),
  ];
  const rest = `const readList = createQueryReader(resource);
const findPage = createPageFinder(resource);

export const ${camel}Controller: ResourceController<typeof schema> = {
${handlers.join("\n\n")}
};
${change}`;
  const used = (name: string): boolean =>
    name === "type Resource" || // It comes before the rest.
    new RegExp(`(?<!\\w|"|[^.]\\.)${name.replace(/^.* /, "")}\\b(?!:)`).test(rest);
  const imports = modules.flatMap(([module, names]) => {
    const some = names.filter(used);
    if (some.length === 0) return [];
    const tail = ` from "${module}";`;
    return [`${listText(some, { head: "import ", brackets: ["{", "}"], tail })}\n`];
  });
  const pattern = `const { ${members.filter(used).join(", ")} } =`;
  // All of them just fit on a line of 100 characters, and then Prettier puts the value on the next one.
  const taken = `${pattern}${pattern.length > 90 ? "\n  " : " "}resource;`;
  return `${imports.join("")}import { ${camel} as model } from "./model.ts";

// Written out by \`fetchwork eject\`. The routes have applied access rules and validated bodies before they come here.

const resource: Resource<typeof model.schema> = model;
${taken}
${rest}`;
}
