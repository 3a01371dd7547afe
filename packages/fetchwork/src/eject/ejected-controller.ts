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
    [
      "afterChange",
      "changeDocument",
      "checkReferences",
      "createListReader",
      "createPageFinder",
      "etagOf",
      "hiddenFields",
      "mergePatch",
      "noneMatchHolds",
      "notFound",
      "pageAnswer",
      "populate",
      "readPopulate",
      "refuseConflicts",
      "releaseReferences",
      "requireAccess",
      "requirePreconditions",
      "requireTrash",
      "validate",
      "view",
      "without",
      "withoutPopulate",
      "writeTogether",
      "type Fields",
      "type ResourceCall",
      "type ResourceController",
    ],
  ],
];

/** Members of a resource, as handlers call them. */
const members = [
  "collection",
  "hooks",
  "list: rules",
  "nullable",
  "path",
  "present",
  "readOnly",
  "reserved",
  "schema",
  "stored",
] as const;

/** Writes `controller.ts` with every handler in full, in the form that Prettier gives it. */
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
  const rest = `const readList = createListReader(rules);
const findPage = createPageFinder(resource);

export const ${camel}Controller: ResourceController<typeof schema> = {
${handlers.join("\n\n")}
};
${change}`;
  const used = (name: string): boolean =>
    new RegExp(`(?<!\\w|"|[^.]\\.)${name.replace(/^.* /, "")}\\b(?!:)`).test(rest);
  const imports = modules.flatMap(([module, names]) => {
    const some = names.filter(used);
    if (some.length === 0) return [];
    const tail = ` from "${module}";`;
    return [`${listText(some, { head: "import ", brackets: ["{", "}"], tail })}\n`];
  });
  const taken = listText(members.filter(used), {
    head: "const ",
    brackets: ["{", "}"],
    tail: " = resource;",
  });
  return `${imports.join("")}import { ${camel} as resource } from "./model.ts";

// Written out by \`fetchwork eject\`. The routes have applied access rules and validated bodies before they come here.

${taken}
${rest}`;
}
