import type { DefaultTreeAdapterTypes } from "parse5";

/** A reference of a page to a file. */
export interface PageReference {
  readonly url: string;
  readonly line: number;
  readonly from: "script" | "style" | "other" | "link";
  /** `<script type="module">`. */
  readonly isModule: boolean;
}

/** Something with a line. */
export interface Placed {
  readonly text: string;
  readonly line: number;
}

/** An inline script of a page. */
export interface InlineScript {
  readonly source: string;
  /** Line of the page on which the script's first line is. */
  readonly line: number;
  readonly isModule: boolean;
}

type Parse = (typeof import("parse5"))["parse"];

/** Reads a page. */
export type PageReader = (html: string) => PageFacts;

let loading: Promise<PageReader> | undefined;

/** Loads `parse5`, once. */
export function loadPageReader(): Promise<PageReader> {
  return (loading ??= import("parse5").then(
    ({ parse }) =>
      (html) =>
        readPage(html, parse),
  ));
}

/** Facts about a page, for other files. */
export type PageFacts = Readonly<PageCollector>;

/** Facts found so far while a page is read. */
class PageCollector {
  references: PageReference[] = [];
  ids: Placed[] = [];
  classes: Set<string> = new Set();
  /** Ids that the page itself points at: `for`, `aria-labelledby`, `href="#id"`. */
  idUses: Placed[] = [];
  /** Functions that attributes like `onclick` call. */
  handlers: Placed[] = [];
  scripts: InlineScript[] = [];
  styles: Placed[] = [];
  hasImportMap = false;
}

function readPage(html: string, parse: Parse): PageFacts {
  const found = new PageCollector();
  const stack: DefaultTreeAdapterTypes.Node[] = [parse(html, { sourceCodeLocationInfo: true })];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if ("attrs" in node) readElement(node, found);
    if ("content" in node) stack.push(node.content);
    if ("childNodes" in node) for (const child of node.childNodes.toReversed()) stack.push(child);
  }
  return found;
}

/** Elements and attributes that load a file. */
const loads: ReadonlySet<string> = new Set([
  "img src",
  "iframe src",
  "audio src",
  "video src",
  "video poster",
  "source src",
  "track src",
  "embed src",
  "object data",
  "input src",
]);

function readElement(element: DefaultTreeAdapterTypes.Element, found: PageCollector): void {
  const { tagName, attrs } = element;
  const line = element.sourceCodeLocation?.startLine ?? 1;
  const values = new Map(attrs.map(({ name, value }) => [name, value]));
  const isModule = values.get("type") === "module";
  const refer = (url: string, from: PageReference["from"]): void => {
    found.references.push({ url, line, from, isModule });
  };
  for (const [name, value] of values) {
    readAttribute(name, value, line, found);
    if (loads.has(`${tagName} ${name}`)) refer(value, "other");
  }
  if (tagName === "script") readScript(element, values, line, found);
  if (tagName === "style") found.styles.push({ text: textOf(element), line });
  const href = values.get("href");
  if (href === undefined) return;
  const rel = values.get("rel")?.toLowerCase() ?? "";
  if (
    tagName === "link" &&
    /(?:^|\s)(?:stylesheet|icon|manifest|modulepreload|apple-touch-icon)(?:\s|$)/.test(rel)
  ) {
    refer(href, rel.includes("stylesheet") ? "style" : "other");
  }
  if (tagName === "a" || tagName === "area") {
    if (/^#[A-Za-z_][\w-]*$/.test(href) && href !== "#top") {
      found.idUses.push({ text: href.slice(1), line });
    } else refer(href, "link");
  }
}

const pointing: ReadonlySet<string> = new Set([
  "for",
  "list",
  "aria-labelledby",
  "aria-controls",
  "aria-describedby",
]);

function readAttribute(name: string, value: string, line: number, found: PageCollector): void {
  if (name === "id" && value !== "") found.ids.push({ text: value, line });
  else if (name === "class") for (const one of value.split(/\s+/)) found.classes.add(one);
  else if (pointing.has(name)) {
    for (const id of value.split(/\s+/)) if (id !== "") found.idUses.push({ text: id, line });
  } else if (/^on[a-z]+$/.test(name)) readHandler(value, line, found);
}

/** `start()` of `onclick="start()"`; more than a plain call is not looked at. */
function readHandler(value: string, line: number, found: PageCollector): void {
  const [, name] = /^\s*(?:return\s+)?([A-Za-z_$][\w$]*)\s*\(/.exec(value) ?? [];
  if (name !== undefined) found.handlers.push({ text: name, line });
}

function readScript(
  element: DefaultTreeAdapterTypes.Element,
  values: ReadonlyMap<string, string>,
  line: number,
  found: PageCollector,
): void {
  const type = values.get("type") ?? "";
  const src = values.get("src");
  if (type === "importmap") found.hasImportMap = true;
  if (src !== undefined) {
    found.references.push({ url: src, line, from: "script", isModule: type === "module" });
  } else if (/^(?:|module|text\/javascript|application\/javascript)$/i.test(type)) {
    const [child] = element.childNodes;
    const first = child?.sourceCodeLocation?.startLine ?? line;
    found.scripts.push({ source: textOf(element), line: first, isModule: type === "module" });
  }
}

function textOf(element: DefaultTreeAdapterTypes.Element): string {
  return element.childNodes.map((child) => ("value" in child ? child.value : "")).join("");
}
