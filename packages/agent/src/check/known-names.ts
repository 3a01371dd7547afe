import { cookedOf, literalOf, nameOf, nodeAt, nodesAt, walk, type AstNode } from "./ast.ts";
import type { ProjectFiles } from "./project-files.ts";

/** Names that scripts may give to elements: words of strings, except those they search for. */
export class KnownNames {
  readonly #words = new Set<string>();
  /** Beginnings of names that a template makes: `cell-${index}`. */
  readonly #starts = new Set<string>();

  constructor(project: ProjectFiles) {
    for (const { program } of project.scripts) this.#readScript(program);
    // Components of other languages make elements too.
    for (const path of project.paths) {
      if (/\.(?:vue|svelte|astro|ejs|hbs|pug|njk|php|py|rb|md)$/i.test(path)) {
        this.#readText(project.source(path));
      }
    }
  }

  inScripts(name: string): boolean {
    if (this.#words.has(name)) return true;
    return [...this.#starts].some((start) => name.startsWith(start));
  }

  #readScript(program: AstNode): void {
    walk(program, (node, parent) => {
      if (node.type === "StringLiteral" && !isLookup(node, parent)) {
        this.#readString(literalOf(node) ?? "");
      }
      if (node.type === "JSXText") this.#readText(String(node["value"]));
      if (node.type !== "TemplateLiteral" || isLookup(node, parent)) return;
      const quasis = nodesAt(node, "quasis");
      for (const [index, quasi] of quasis.entries()) {
        const text = cookedOf(quasi);
        if (quasis.length === 1 || isMarkup(text)) this.#readString(text);
        const start = /[\w-]{2,}$/.exec(text)?.[0];
        if (index < quasis.length - 1 && start !== undefined) this.#starts.add(start);
      }
    });
  }

  /** Any word of markup may be a name; other text only if all of it is names, such as classes. */
  #readString(text: string): void {
    if (isMarkup(text) || /^[\w\s#.-]*$/.test(text)) this.#readText(text);
  }

  #readText(text: string): void {
    for (const [word] of text.matchAll(/[\w-]+/g)) this.#words.add(word);
  }
}

function isMarkup(text: string): boolean {
  return /[<=]/.test(text);
}

function isLookup(node: AstNode, parent: AstNode | undefined): boolean {
  if (parent?.type === "ImportDeclaration") return true;
  if (parent?.type !== "CallExpression" && parent?.type !== "OptionalCallExpression") return false;
  const method = nameOf(nodeAt(nodeAt(parent, "callee"), "property")) ?? "";
  return (
    /^(?:getElementById|getElementsByClassName|querySelector(?:All)?|closest|matches)$/.test(
      method,
    ) && nodesAt(parent, "arguments")[0] === node
  );
}
