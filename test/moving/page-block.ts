import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { codeBlocks } from "../../scripts/markdown.ts";
import { readText, root } from "../../scripts/workspace-packages.ts";

let count = 0;

/**
 * Runs the first code block of a language in a page as the module that it is.
 *
 * @param page A file in `docs/`, such as `from-express.md`.
 * @param language `js` for the code before the move, `ts` for the code after it.
 * @param replacements Texts of the block and what they become, such as the name of a folder.
 * Default: none.
 * @param home The folder whose packages the block imports. Default: the workspace.
 * @returns What the block exports.
 */
export async function importBlock<Exports>(
  page: string,
  language: "js" | "ts",
  replacements: Readonly<Record<string, string>> = {},
  home: string = root,
): Promise<Exports> {
  const [text] = codeBlocks(readText(`docs/${page}`), language);
  if (text === undefined) throw new Error(`${page} has no ${language} block`);
  return importText<Exports>(page, text, replacements, home);
}

/**
 * Runs a text as the module that it is, without its types.
 *
 * @param page Where it is from, for messages.
 * @returns What the text exports.
 */
export async function importText<Exports>(
  page: string,
  text: string,
  replacements: Readonly<Record<string, string>>,
  home: string,
): Promise<Exports> {
  let changed = stripTypeScriptTypes(text);
  for (const [from, to] of Object.entries(replacements)) {
    if (!changed.includes(from)) throw new Error(`${page} does not contain ${from}`);
    changed = changed.replaceAll(from, to);
  }
  // Inside of the folder, so that its packages resolve; ignored by git and the tools.
  const folder = join(home, "node_modules/.cache/moving");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${basename(page)}-${process.pid}-${count++}.mjs`);
  writeFileSync(file, changed);
  try {
    return (await import(pathToFileURL(file).href)) as Exports;
  } finally {
    rmSync(file);
  }
}
