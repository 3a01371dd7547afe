import { isObject } from "@fetchwork/kit";
import ignore, { type Ignore } from "ignore";
import type { AstNode } from "./ast.ts";
import { parseJson } from "./parse-json.ts";
import { isScript, loadScriptParser } from "./parse-script.ts";
import { isYaml, loadYamlParser } from "./parse-yaml.ts";
import { readModule, type ModuleFacts } from "./read-module.ts";
import { loadPageReader, type PageFacts } from "./read-page.ts";
import { readStyle, type StyleFacts } from "./read-style.ts";
import { folderOf, pathFrom } from "./resolve-import.ts";

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

/** A place where a file cannot be parsed. */
export interface SyntaxFault {
  /** From 1. */
  readonly line: number;
  /** One line. */
  readonly message: string;
}

/** The place of a script that is a file. */
const whole = { offset: 0, inline: undefined } as const;

/** A project, read once for all checks. Files that cannot be parsed are among the faults only. */
export interface ProjectFiles {
  readonly faults: readonly (SyntaxFault & { readonly path: string })[];
  readonly paths: ReadonlySet<string>;
  /** Scripts that are checked. */
  readonly scripts: readonly ProjectScript[];
  /** Whether `scripts` are all. */
  readonly isWhole: boolean;
  /** Scripts that are files, by path, also those that are not checked. */
  readonly modules: { get(path: string): ProjectScript | undefined };
  readonly pages: ReadonlyMap<string, PageFacts>;
  readonly styles: readonly ProjectStyle[];
  /** package.json and other JSON, by path. */
  readonly json: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  /** Whether git ignores a path: what is there is the work of a tool. */
  readonly isIgnored: (path: string) => boolean;
  readonly source: (path: string) => string;
}

/**
 * Reads every file of a project once.
 *
 * @param only scripts that are checked; pages and styles are left out then. Others are read when
 * they are asked for.
 */
export async function readProject(
  files: ReadonlyMap<string, string>,
  only?: ReadonlySet<string>,
): Promise<ProjectFiles> {
  const [parseScript, readPage] = await Promise.all([loadScriptParser(), loadPageReader()]);
  const yaml = [...files].filter(
    ([path, source]) => only?.has(path) !== false && isYaml(path, source),
  );
  const parseYaml = yaml.length === 0 ? undefined : await loadYamlParser();
  const faults: (SyntaxFault & { readonly path: string })[] = [];
  for (const [path, source] of yaml) {
    for (const fault of parseYaml?.(source) ?? []) faults.push({ path, ...fault });
  }
  const scripts: ProjectScript[] = [];
  const pages = new Map<string, PageFacts>();
  const styles: ProjectStyle[] = [];
  const json = new Map<string, Readonly<Record<string, unknown>>>();
  const readScript = (
    path: string,
    source: string,
    place: Pick<ProjectScript, "offset" | "inline">,
  ): ProjectScript | SyntaxFault => {
    const name = place.inline === undefined ? path : place.inline === "module" ? "x.mjs" : "x.js";
    const parsed = parseScript(name, source);
    if (parsed.program === undefined) {
      return { line: parsed.line + place.offset, message: parsed.message };
    }
    const { program } = parsed;
    const facts = readModule(program);
    const isTypes = /\.d\.[cm]?ts$/.test(path);
    return { path, program, facts: isTypes ? asTypes(facts) : facts, ...place };
  };
  const addScript = (...args: Parameters<typeof readScript>): void => {
    const read = readScript(...args);
    if ("program" in read) scripts.push(read);
    else faults.push({ path: args[0], ...read });
  };
  const addStyle = (path: string, source: string, offset: number): void => {
    const facts = readStyle(source);
    const { fault } = facts;
    if (fault !== undefined) faults.push({ path, line: fault.line + offset, message: fault.text });
    styles.push({ path, facts, offset });
  };
  for (const [path, source] of files) {
    if (isScript(path)) {
      if (only?.has(path) !== false) addScript(path, source, whole);
    } else if (only !== undefined && /\.(?:css|html?)$/i.test(path)) continue;
    else if (/\.css$/i.test(path)) addStyle(path, source, 0);
    else if (/\.html?$/i.test(path)) {
      const page = readPage(source);
      pages.set(path, page);
      for (const { source: text, line, isModule } of page.scripts) {
        addScript(path, text, { offset: line - 1, inline: isModule ? "module" : "script" });
      }
      for (const { text, line } of page.styles) addStyle(path, text, line - 1);
    } else if (/\.(?:jsonc?|webmanifest)$/i.test(path)) {
      const parsed = parseJson(path, source);
      if (!parsed.ok) faults.push({ path, line: parsed.line, message: parsed.message });
      else if (isObject(parsed.value)) json.set(path, parsed.value);
    }
  }
  const ofFiles = scripts.filter(({ inline }) => inline === undefined);
  const modules = new Map<string, ProjectScript | undefined>(
    ofFiles.map((script) => [script.path, script]),
  );
  const moduleAt = (path: string): ProjectScript | undefined => {
    const source = files.get(path);
    if (only === undefined || modules.has(path) || source === undefined || !isScript(path)) {
      return modules.get(path);
    }
    const read = readScript(path, source, whole);
    const script = "program" in read ? read : undefined;
    modules.set(path, script);
    return script;
  };
  return {
    faults,
    paths: new Set(files.keys()),
    scripts,
    isWhole: only === undefined,
    modules: { get: moduleAt },
    pages,
    styles,
    json,
    isIgnored: ignoredPaths(files),
    source: (path) => files.get(path) ?? "",
  };
}

/** A file of types exports whatever it declares, also without saying so. */
function asTypes(facts: ModuleFacts): ModuleFacts {
  return { ...facts, exports: new Set([...facts.topLevel, ...facts.exports]) };
}

/** Whether a `.gitignore` of the project ignores a path: then a tool makes what is there. */
function ignoredPaths(files: ReadonlyMap<string, string>): (path: string) => boolean {
  const rules: (readonly [string, Ignore])[] = [...files]
    .filter(([path]) => /(?:^|\/)\.gitignore$/.test(path))
    .map(([path, source]) => [folderOf(path), ignore().add(source)]);
  return (path) =>
    rules.some(([folder, each]) => {
      const below = pathFrom(folder, path);
      return below !== undefined && each.ignores(below);
    });
}
