// @ts-check
import { join } from "node:path";
import { Converter, ReflectionKind } from "typedoc";
import { entriesOf } from "../scripts/exported-names.ts";
import { readPackages, root } from "../scripts/workspace-packages.ts";

/** The entries of the packages that are for others, each with its source file. */
const entries = readPackages("packages")
  .flatMap(entriesOf)
  .filter(([entry]) => !entry.endsWith("/internal"));

/** Names the page of an entry by its specifier, not by its file. */
function nameModules(/** @type {import("typedoc").Application} */ app) {
  const names = new Map(entries.map(([entry, file]) => [join(root, file), entry]));
  app.converter.on(Converter.EVENT_CREATE_DECLARATION, (context, reflection) => {
    if (!reflection.kindOf(ReflectionKind.Module)) return;
    const file = context.getSymbolFromReflection(reflection)?.getDeclarations()?.[0];
    const name = names.get(file?.getSourceFile().fileName ?? "");
    if (name) reflection.name = name;
  });
}

export default {
  entryPoints: entries.map(([, file]) => join(root, file)),
  tsconfig: join(root, "docs-site/tsconfig.reference.json"),
  plugin: ["typedoc-plugin-markdown", nameModules],
  out: join(import.meta.dirname, "pages/reference"),
  router: "module",
  readme: "none",
  name: "API reference",
  disableGit: true,
  disableSources: true,
  excludePrivate: true,
  excludeInternal: true,
  excludeExternals: true,
  skipErrorChecking: true,
  hidePageHeader: true,
  hideBreadcrumbs: true,
  entryFileName: "index.md",
  parametersFormat: "table",
  interfacePropertiesFormat: "table",
  classPropertiesFormat: "table",
  typeDeclarationFormat: "table",
  propertyMembersFormat: "table",
  useCodeBlocks: true,
  sanitizeComments: true,
  useHTMLAnchors: true,
  tableColumnSettings: { hideModifiers: true },
};
