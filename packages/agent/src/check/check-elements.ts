import { lineOf, literalOf, nameOf, nodeAt, nodesAt, walk, type AstNode } from "./ast.ts";
import { quote } from "./check-imports.ts";
import type { Diagnostic } from "./diagnostic.ts";
import type { ExportLookup } from "./export-lookup.ts";
import { KnownNames } from "./known-names.ts";
import { scriptsOf } from "./page-scripts.ts";
import type { ProjectFiles, ProjectScript } from "./project-files.ts";
import type { PageFacts } from "./read-page.ts";

interface ElementUse {
  readonly kind: "id" | "class";
  readonly name: string;
  readonly line: number;
}

/** Ids and classes that a script looks for in the document. */
function elementUses(program: AstNode): readonly ElementUse[] {
  const uses: ElementUse[] = [];
  walk(program, (node) => {
    if (node.type !== "CallExpression" && node.type !== "OptionalCallExpression") return;
    const method = nameOf(nodeAt(nodeAt(node, "callee"), "property"));
    const text = literalOf(nodesAt(node, "arguments")[0]);
    if (text === undefined || method === undefined) return;
    const line = lineOf(node);
    if (method === "getElementById") uses.push({ kind: "id", name: text, line });
    else if (method === "getElementsByClassName") {
      for (const name of text.split(/\s+/))
        if (name !== "") uses.push({ kind: "class", name, line });
    } else if (method === "querySelector" || method === "querySelectorAll") {
      const bare = text.replace(/\[[^\]]*\]|:[\w-]+(?:\([^)]*\))?/g, "");
      for (const [, sign, name = ""] of bare.matchAll(/([#.])(-?[A-Za-z_][\w-]*)/g)) {
        uses.push({ kind: sign === "#" ? "id" : "class", name, line });
      }
    }
  });
  return uses;
}

/** Elements that scripts look for. */
export function checkElements(project: ProjectFiles, lookup: ExportLookup): readonly Diagnostic[] {
  const known = new KnownNames(project);
  const loadedBy = new Map<ProjectScript, PageFacts[]>();
  for (const [path, page] of project.pages) {
    for (const script of scriptsOf(path, page, project, lookup)) {
      loadedBy.set(script, [...(loadedBy.get(script) ?? []), page]);
    }
  }
  const all = [...project.pages.values()];
  return project.scripts.flatMap((script) => {
    const loading = loadedBy.get(script);
    // Elements that such a script looks for may be of components, also those of packages.
    if (loading === undefined && /\.[jt]sx$/.test(script.path)) return [];
    const pages = loading ?? all;
    return elementUses(script.program).flatMap(({ kind, name, line }) => {
      const has = pages.some((page) =>
        kind === "id" ? page.ids.some(({ text }) => text === name) : page.classes.has(name),
      );
      if (has || known.inScripts(name)) return [];
      const what = kind === "id" ? `the id ${quote(name)}` : `the class ${quote(name)}`;
      const message = `it looks for an element with ${what}, which no page has`;
      const related = [...project.pages].find(([, page]) => page === pages[0])?.[0];
      return [
        {
          path: script.path,
          line: line + script.offset,
          code: "missing-element" as const,
          message,
          severity: "error" as const,
          related,
        },
      ];
    });
  });
}
