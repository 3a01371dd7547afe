import { isObject } from "@fetchwork/kit";
import type { AstNode } from "./ast.ts";
import { parseJson } from "./parse-json.ts";
import { isScript, type ScriptParser } from "./parse-script.ts";
import type { ModuleFacts } from "./module-facts.ts";
import { readModule } from "./read-module.ts";
import type { PageFacts, PageReader } from "./read-page.ts";
import { readStyle, type StyleFacts } from "./read-style.ts";

/** A script of the project: a file, or one in a page. */
export interface ProjectScript {
  readonly path: string;
  readonly program: AstNode;
  readonly facts: ModuleFacts;
  /** Lines before it in its file. */
  readonly offset: number;
  readonly inline: "module" | "script" | undefined;
}

/** A style sheet of the project: a file, or one in a page. */
export interface ProjectStyle {
  readonly path: string;
  readonly facts: StyleFacts;
  readonly offset: number;
}

/** A project, read once for all checks. Files that cannot be parsed are left out. */
export interface ProjectFiles {
  readonly paths: ReadonlySet<string>;
  readonly scripts: readonly ProjectScript[];
  /** Those that are files, by path. */
  readonly modules: ReadonlyMap<string, ProjectScript>;
  readonly pages: ReadonlyMap<string, PageFacts>;
  readonly styles: readonly ProjectStyle[];
  /** package.json and other JSON, by path. */
  readonly json: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  readonly source: (path: string) => string;
}

/** What parses scripts and pages. */
export interface Readers {
  readonly parseScript: ScriptParser;
  readonly readPage: PageReader;
}

/** Reads every file of a project once. */
export function readProject(
  files: ReadonlyMap<string, string>,
  { parseScript, readPage }: Readers,
): ProjectFiles {
  const scripts: ProjectScript[] = [];
  const pages = new Map<string, PageFacts>();
  const styles: ProjectStyle[] = [];
  const json = new Map<string, Readonly<Record<string, unknown>>>();
  const addScript = (
    path: string,
    source: string,
    place: Pick<ProjectScript, "offset" | "inline">,
  ): void => {
    const name = place.inline === undefined ? path : place.inline === "module" ? "x.mjs" : "x.js";
    const { program } = parseScript(name, source);
    if (program === undefined) return;
    const facts = readModule(program);
    const isTypes = /\.d\.[cm]?ts$/.test(path);
    scripts.push({ path, program, facts: isTypes ? asTypes(facts) : facts, ...place });
  };
  for (const [path, source] of files) {
    if (isScript(path)) addScript(path, source, { offset: 0, inline: undefined });
    else if (/\.css$/i.test(path)) styles.push({ path, facts: readStyle(source), offset: 0 });
    else if (/\.html?$/i.test(path)) {
      const page = readPage(source);
      pages.set(path, page);
      for (const { source: text, line, isModule } of page.scripts) {
        addScript(path, text, { offset: line - 1, inline: isModule ? "module" : "script" });
      }
      for (const { text, line } of page.styles) {
        styles.push({ path, facts: readStyle(text), offset: line - 1 });
      }
    } else if (/\.(?:json|webmanifest)$/i.test(path)) {
      const parsed = parseJson(path, source);
      if (parsed.ok && isObject(parsed.value)) json.set(path, parsed.value);
    }
  }
  const ofFiles = scripts.filter(({ inline }) => inline === undefined);
  return {
    paths: new Set(files.keys()),
    scripts,
    modules: new Map(ofFiles.map((script) => [script.path, script])),
    pages,
    styles,
    json,
    source: (path) => files.get(path) ?? "",
  };
}

/** A file of types exports whatever it declares, also without saying so. */
function asTypes(facts: ModuleFacts): ModuleFacts {
  const declared = [...facts.topLevel.keys()].map((name) => [name, name] as const);
  return { ...facts, exports: new Map([...declared, ...facts.exports]) };
}
