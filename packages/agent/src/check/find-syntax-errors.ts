import { isScript, loadScriptParser } from "./parse-script.ts";
import { parseJson } from "./parse-json.ts";
import { loadPageReader } from "./read-page.ts";
import { readStyle } from "./read-style.ts";

/** A place where a file cannot be parsed. */
export interface SyntaxFault {
  /** From 1. */
  readonly line: number;
  /** One line. */
  readonly message: string;
}

/** Whether {@link findSyntaxErrors} can find faults in a file. */
export function canFindSyntaxErrors(path: string): boolean {
  return isScript(path) || /\.(?:json|jsonc|webmanifest|css|html?)$/i.test(path);
}

/** Parses a file of JavaScript, TypeScript, JSON, CSS or HTML (its scripts and styles). Other files have no faults. */
export async function findSyntaxErrors(
  path: string,
  source: string,
): Promise<readonly SyntaxFault[]> {
  if (isScript(path)) {
    const parsed = (await loadScriptParser())(path, source);
    return parsed.program === undefined ? [{ line: parsed.line, message: parsed.message }] : [];
  }
  if (/\.(?:json|jsonc|webmanifest)$/i.test(path)) {
    const parsed = parseJson(path, source);
    return parsed.ok ? [] : [{ line: parsed.line, message: parsed.message }];
  }
  if (/\.css$/i.test(path)) {
    const { fault } = readStyle(source);
    return fault === undefined ? [] : [{ line: fault.line, message: fault.text }];
  }
  if (/\.html?$/i.test(path)) {
    const parse = await loadScriptParser();
    const page = (await loadPageReader())(source);
    const inScripts = page.scripts.flatMap((script) => {
      const parsed = parse(script.isModule ? "inline.mjs" : "inline.js", script.source);
      if (parsed.program !== undefined) return [];
      return [{ line: script.line + parsed.line - 1, message: parsed.message }];
    });
    const inStyles = page.styles.flatMap(({ text, line }) => {
      const { fault } = readStyle(text);
      return fault === undefined ? [] : [{ line: line + fault.line - 1, message: fault.text }];
    });
    return [...inScripts, ...inStyles];
  }
  return [];
}
