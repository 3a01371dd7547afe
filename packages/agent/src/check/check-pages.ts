import { lineOf, literalOf, nameOf, nodeAt, nodesAt, walk } from "./ast.ts";
import { checkElements } from "./check-elements.ts";
import { quote } from "./check-imports.ts";
import type { Diagnostic } from "./diagnostic.ts";
import type { ExportLookup } from "./export-lookup.ts";
import { KnownNames } from "./known-names.ts";
import { decodeUrl, scriptsOf } from "./page-scripts.ts";
import type { ProjectFiles, ProjectScript } from "./project-files.ts";
import type { ProjectManifests } from "./project-manifests.ts";
import type { PageFacts, PageReference } from "./read-page.ts";
import { findServed, folderOf, joinPath } from "./resolve-import.ts";

/** Checks what pages load, the elements that scripts look for, and functions of attributes. */
export function checkPages(
  project: ProjectFiles,
  manifests: ProjectManifests,
  lookup: ExportLookup,
): readonly Diagnostic[] {
  const inPages = [...project.pages].flatMap(([path, page]) => [
    ...page.references.flatMap((reference) => checkReference(path, reference, project, manifests)),
    ...checkPage(path, page, project, lookup),
  ]);
  const inStyles = project.styles.flatMap(({ path, facts, offset }) => {
    const from = /\.css$/i.test(path) ? "other" : "style";
    return facts.references.flatMap(({ text, line }) => {
      const reference: PageReference = { url: text, line: line + offset, from, isModule: false };
      return checkReference(path, reference, project, manifests);
    });
  });
  const inScripts = project.scripts.flatMap((script) => checkWorkers(script, project));
  const ofElements = project.pages.size === 0 ? [] : checkElements(project, lookup);
  return [...inPages, ...inStyles, ...inScripts, ...ofElements];
}

/** Scripts that are loaded by name: `importScripts`, `new Worker`, `serviceWorker.register`. */
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
  const decoded = decodeUrl(plain);
  const target = decoded.startsWith("/")
    ? findServed(decoded, project.paths)
    : localTarget(path, decoded, project, manifests);
  if (target === undefined && isOfPackage(path, plain, manifests)) return [];
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

/** Bundlers take style sheets from packages: `@import "tailwindcss"`. */
function isOfPackage(path: string, url: string, manifests: ProjectManifests): boolean {
  if (!/\.css$/i.test(path) || /^[./]/.test(url)) return false;
  const name = url
    .replace(/^~/, "")
    .split("/", url.includes("@") ? 2 : 1)
    .join("/");
  return manifests.above(path).some(({ dependencies }) => dependencies.has(name));
}

/** Servers send public folders from their root: `app.js` may be `public/app.js`. */
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
