import { cookedOf, lineOf, literalOf, nameOf, nodeAt, nodesAt, walk, type AstNode } from "./ast.ts";
import { quote } from "./check-imports.ts";
import type { Diagnostic } from "./diagnostic.ts";
import type { ExportLookup } from "./export-lookup.ts";
import type { ProjectFiles, ProjectScript } from "./project-files.ts";
import type { ProjectManifests } from "./project-manifests.ts";
import type { PageFacts, PageReference } from "./read-page.ts";
import { findServed, folderOf, joinPath } from "./resolve-import.ts";

/** What pages load, the elements that scripts and styles look for, and functions that attributes call. */
export function checkPages(
  project: ProjectFiles,
  manifests: ProjectManifests,
  lookup: ExportLookup,
): readonly Diagnostic[] {
  const found: Diagnostic[] = [];
  for (const [path, page] of project.pages) {
    found.push(...checkReferences(path, page, project, manifests));
    found.push(...checkPage(path, page, project, lookup));
  }
  for (const { path, facts, offset } of project.styles) {
    for (const { text, line } of facts.references) {
      const from = /\.css$/i.test(path) ? "other" : "style";
      const reference: PageReference = { url: text, line: line + offset, from, isModule: false };
      found.push(...checkReference(path, reference, project, manifests));
    }
  }
  for (const script of project.scripts) found.push(...checkWorkers(script, project));
  if (project.pages.size > 0)
    found.push(...checkElements(project, lookup), ...checkVariables(project));
  return found;
}

/** Scripts that are loaded by name: `importScripts("a.js")`, `new Worker("a.js")`, `serviceWorker.register("a.js")`. */
function checkWorkers(script: ProjectScript, project: ProjectFiles): readonly Diagnostic[] {
  const found: Diagnostic[] = [];
  walk(script.program, (node) => {
    if (node.type !== "CallExpression" && node.type !== "NewExpression") return;
    const callee = nodeAt(node, "callee");
    const owner = nodeAt(callee, "object");
    const loads =
      nameOf(callee) === "importScripts" ||
      /^(?:Shared)?Worker$/.test((node.type === "NewExpression" && nameOf(callee)) || "") ||
      (nameOf(nodeAt(callee, "property")) === "register" &&
        nameOf(nodeAt(owner, "property")) === "serviceWorker");
    const url = loads ? literalOf(nodesAt(node, "arguments")[0]) : undefined;
    if (url === undefined || /^(?:[a-z][a-z\d+.-]*:|\/\/)/i.test(url)) return;
    const local = joinPath(folderOf(script.path), url);
    if (local !== undefined && project.paths.has(local)) return;
    // It may also be relative to the page, which a server may keep elsewhere.
    if (findServed(url.replace(/^(?:\.{0,2}\/)+/, ""), project.paths) !== undefined) return;
    const message = `it loads ${quote(url)}, which does not exist`;
    const line = lineOf(node) + script.offset;
    found.push({ path: script.path, line, code: "missing-file", message, severity: "error" });
  });
  return found;
}

function checkReferences(
  path: string,
  page: PageFacts,
  project: ProjectFiles,
  manifests: ProjectManifests,
): readonly Diagnostic[] {
  return page.references.flatMap((reference) =>
    checkReference(path, reference, project, manifests),
  );
}

const isTemplate = /\{\{|\{%|<%|\$\{|%[A-Z_]+%/;

function checkReference(
  path: string,
  { url, line, from, isModule }: PageReference,
  project: ProjectFiles,
  manifests: ProjectManifests,
): readonly Diagnostic[] {
  const plain = url.trim().replace(/[?#].*$/, "");
  if (plain === "" || /^(?:[a-z][a-z\d+.-]*:|\/\/)/i.test(plain) || isTemplate.test(url)) return [];
  // A link without the ending of a file is a route of a server.
  if (from === "link" && !/\.(?:html?|pdf|css|js|png|jpe?g|svg|json|txt|zip)$/i.test(plain))
    return [];
  if (/(?:^|\/)(?:dist|build|out|node_modules|socket\.io)\//.test(plain)) return [];
  const decoded = decode(plain);
  const target = decoded.startsWith("/")
    ? findServed(decoded, project.paths)
    : localTarget(path, decoded, project, manifests);
  if (target === undefined) {
    const message = `it refers to ${quote(url)}, which does not exist`;
    return [{ path, line, code: "missing-file", message, severity: "error" }];
  }
  const script = from === "script" && !isModule ? project.modules.get(target) : undefined;
  if (script?.facts.usesEsm === true) {
    const message = `${target} uses import or export; its script element needs type="module"`;
    return [{ path, line, code: "module-kind", message, severity: "error", related: target }];
  }
  return [];
}

/** Servers send public folders from their root: `app.js` of `views/page.html` may be `public/app.js`. */
function localTarget(
  path: string,
  url: string,
  project: ProjectFiles,
  manifests: ProjectManifests,
): string | undefined {
  const joined = joinPath(folderOf(path), url);
  if (joined !== undefined && project.paths.has(joined)) return joined;
  const isServed = manifests.above(path).some(({ dependencies }) => dependencies.size > 0);
  return isServed && !url.startsWith("..") ? findServed(url, project.paths) : undefined;
}

function decode(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    return url;
  }
}

function checkPage(
  path: string,
  page: PageFacts,
  project: ProjectFiles,
  lookup: ExportLookup,
): readonly Diagnostic[] {
  const found: Diagnostic[] = [];
  const ids = new Map<string, number>();
  for (const { text, line } of page.ids) {
    const first = ids.get(text);
    if (first === undefined) ids.set(text, line);
    else if (!isTemplate.test(text)) {
      const message = `the id ${quote(text)} is that of an element on line ${first} too`;
      found.push({ path, line, code: "duplicate-id", message, severity: "error" });
    }
  }
  const known = new KnownNames(project);
  for (const { text, line } of page.idUses) {
    if (ids.has(text) || isTemplate.test(text) || known.inScripts(text)) continue;
    const message = `it points at the element ${quote(text)}, which the page does not have`;
    found.push({ path, line, code: "missing-element", message, severity: "error" });
  }
  const globals = globalsOf(path, page, project, lookup);
  for (const { text, line } of page.handlers) {
    if (globals === undefined || globals.has(text) || text in globalThis) continue;
    if (/^(?:alert|confirm|print|open|close|history|location|window|document|event)$/.test(text))
      continue;
    const message = `an attribute calls ${text}, which no script of the page makes global`;
    found.push({ path, line, code: "undeclared-name", message, severity: "error" });
  }
  return found;
}

/** Names that attributes of a page can call. Undefined: a script from elsewhere may make any. */
function globalsOf(
  path: string,
  page: PageFacts,
  project: ProjectFiles,
  lookup: ExportLookup,
): ReadonlySet<string> | undefined {
  const names = new Set<string>();
  for (const script of scriptsOf(path, page, project, lookup)) {
    const isModule = script.inline === "module" || script.facts.usesEsm;
    for (const name of script.facts.globals) names.add(name);
    if (!isModule) for (const name of script.facts.declared.keys()) names.add(name);
  }
  const elsewhere = page.references.some(
    ({ from, url }) => from === "script" && /^(?:https?:)?\/\//.test(url),
  );
  return elsewhere ? undefined : names;
}

/** Scripts that a page loads, those that they import included. */
function scriptsOf(
  path: string,
  page: PageFacts,
  project: ProjectFiles,
  lookup: ExportLookup,
): readonly ProjectScript[] {
  const open = project.scripts.filter((script) => script.path === path);
  for (const { url, from } of page.references) {
    if (from !== "script") continue;
    const plain = decode(url.replace(/[?#].*$/, ""));
    const local = joinPath(folderOf(path), plain);
    const target =
      local !== undefined && project.paths.has(local) ? local : findServed(plain, project.paths);
    const script = target === undefined ? undefined : project.modules.get(target);
    if (script !== undefined) open.push(script);
  }
  const found = new Set<ProjectScript>();
  for (let script = open.pop(); script !== undefined; script = open.pop()) {
    if (found.has(script)) continue;
    found.add(script);
    for (const { specifier, how } of script.facts.imports) {
      const target = lookup.resolve(script, specifier, how);
      const next = target.kind === "file" ? project.modules.get(target.path) : undefined;
      if (next !== undefined) open.push(next);
    }
  }
  return [...found];
}

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

function checkElements(project: ProjectFiles, lookup: ExportLookup): readonly Diagnostic[] {
  const known = new KnownNames(project);
  const loadedBy = new Map<ProjectScript, PageFacts[]>();
  for (const [path, page] of project.pages) {
    for (const script of scriptsOf(path, page, project, lookup)) {
      loadedBy.set(script, [...(loadedBy.get(script) ?? []), page]);
    }
  }
  const all = [...project.pages.values()];
  const inScripts = project.scripts.flatMap((script) => {
    const pages = loadedBy.get(script) ?? all;
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
  const inStyles = project.styles.flatMap(({ path, facts, offset }) =>
    facts.ids.flatMap(({ text, line }) => {
      if (known.inPages(text) || known.inScripts(text)) return [];
      const message = `it styles the id ${quote(text)}, which no page has`;
      const place = { path, line: line + offset, code: "missing-element" as const };
      return [{ ...place, message, severity: "warning" as const }];
    }),
  );
  return [...inScripts, ...inStyles];
}

function checkVariables(project: ProjectFiles): readonly Diagnostic[] {
  const known = new KnownNames(project);
  const set = new Set(project.styles.flatMap(({ facts }) => [...facts.variablesSet]));
  const inline = [...project.pages.values()].flatMap(({ inlineStyles }) => inlineStyles).join(";");
  return project.styles.flatMap(({ path, facts, offset }) =>
    facts.variablesUsed.flatMap(({ text, line }) => {
      if (set.has(text) || inline.includes(text) || known.inScripts(text)) return [];
      const message = `it uses the property ${text}, which nothing sets`;
      const place = { path, line: line + offset, code: "missing-variable" as const };
      return [{ ...place, message, severity: "warning" as const }];
    }),
  );
}

/** Names that scripts may give to elements: every word of their strings, but for those that they only look for. */
class KnownNames {
  readonly #words = new Set<string>();
  /** Beginnings of names that a template makes: `cell-${index}`. */
  readonly #starts = new Set<string>();
  readonly #inPages: ReadonlySet<string>;

  constructor(project: ProjectFiles) {
    for (const { program } of project.scripts) this.#readScript(program);
    this.#inPages = new Set(
      [...project.pages.values()].flatMap(({ ids }) => ids.map(({ text }) => text)),
    );
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

  inPages(name: string): boolean {
    return this.#inPages.has(name);
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

  /** Of markup every word may be a name; other text is names only where it has nothing but names, as lists of classes have. */
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
