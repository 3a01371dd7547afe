import vm from "node:vm";
import { z } from "zod";
import { codeOf } from "../error-code.ts";
import { holdsSecret, mayBeSecret } from "../project/secret-files.ts";
import { ToolRefusal, type ChangedFiles } from "./changed-files.ts";
import { defineTool, type LoopTools } from "./loop-tool.ts";

/** Lines, and characters, that one call shows. */
const lineCount = 250;
const maxLines = 1_000;
const maxCharacters = 40_000;
const maxEntries = 400;
const maxMatches = 100;
const longestLine = 300;
/** Milliseconds for a pattern: some never end. */
const patternTime = 2_000;

/** Tools that look at the files of a program. */
export function lookTools(files: ChangedFiles): LoopTools {
  return {
    list: defineTool({
      description: "Lists the files in a folder, and below it. Leave `folder` out for all.",
      input: z.object({ folder: z.string().optional() }),
      about: ({ folder = "." }) => folder,
      execute: ({ folder }) => listed(inFolder(files, folder)),
    }),
    read: defineTool({
      description: `Shows a file with the numbers of its lines, which are not part of it: \`lines\` lines (default ${lineCount}, at most ${maxLines}) from line \`from\` on.`,
      input: z.object({
        path: z.string(),
        from: z.int().min(1).optional(),
        lines: z.int().min(1).max(maxLines).optional(),
      }),
      about: ({ path, from = 1 }) => (from === 1 ? path : `${path}:${from}`),
      execute: ({ path, from = 1, lines = lineCount }) => numbered(files.read(path), from, lines),
    }),
    grep: defineTool({
      description:
        "Finds the lines that match a pattern, a regular expression of JavaScript, in all files or in those below `folder`.",
      input: z.object({
        pattern: z.string().min(1).max(1_000),
        folder: z.string().optional(),
        ignoreCase: z.boolean().optional(),
      }),
      about: ({ pattern, folder }) => (folder === undefined ? pattern : `${pattern} in ${folder}`),
      execute: ({ pattern, folder, ignoreCase = false }) =>
        matches(inFolder(files, folder), files, readPattern(pattern, ignoreCase)),
    }),
  };
}

function inFolder(files: ChangedFiles, folder = "."): readonly string[] {
  const all = [...files.files.keys()].toSorted();
  if (/^\.?\/?$/.test(folder)) return all;
  const path = files.path(folder.replace(/\/+$/, ""));
  const below = all.filter((one) => one === path || one.startsWith(`${path}/`));
  if (below.length === 0) throw new ToolRefusal(`There is nothing below ${path}.`);
  return below;
}

/** All paths, or where these are too many, the folders with the number of their files. */
function listed(paths: readonly string[]): string {
  if (paths.length === 0) return "There is no file.";
  for (let depth = 12; depth > 1; depth -= 1) {
    const entries = collapsed(paths, depth);
    if (entries.length <= maxEntries) return entries.join("\n");
  }
  return collapsed(paths, 1).slice(0, maxEntries).join("\n");
}

function collapsed(paths: readonly string[], depth: number): readonly string[] {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const parts = path.split("/");
    const entry = parts.length <= depth ? path : `${parts.slice(0, depth).join("/")}/`;
    counts.set(entry, (counts.get(entry) ?? 0) + 1);
  }
  return [...counts].map(([entry, count]) =>
    entry.endsWith("/") ? `${entry} (${count} files)` : entry,
  );
}

function numbered(text: string, from: number, count: number): string {
  if (text === "") return "The file is empty.";
  const lines = text.replace(/\n$/, "").split("\n");
  if (from > lines.length) throw new ToolRefusal(`The file has ${lines.length} lines.`);
  const shown: string[] = [];
  let room = maxCharacters;
  for (const [index, line] of lines.slice(from - 1, from - 1 + count).entries()) {
    room -= line.length;
    if (room < 0 && index > 0) break;
    const left = line.length - maxCharacters;
    const note = left > 0 ? `… (${left} characters of the line are left out)` : "";
    shown.push(`${from + index}\t${line.slice(0, maxCharacters)}${note}`);
  }
  const next = from + shown.length;
  const rest = `\n(${lines.length} lines in all; read on from ${next})`;
  return `${shown.join("\n")}${next > lines.length ? "" : rest}`;
}

function readPattern(pattern: string, ignoreCase: boolean): RegExp {
  try {
    return new RegExp(pattern, ignoreCase ? "i" : "");
  } catch (error) {
    throw new ToolRefusal(error instanceof Error ? error.message : "The pattern is wrong.");
  }
}

function matches(paths: readonly string[], files: ChangedFiles, pattern: RegExp): string {
  const found: string[] = [];
  const search = (): void => {
    for (const path of paths) {
      if (mayBeSecret(path)) continue;
      const text = files.files.get(path) ?? "";
      const lines: string[] = [];
      for (const [index, line] of text.split("\n").entries()) {
        if (found.length + lines.length > maxMatches) break;
        if (line.length < 10_000 && pattern.test(line)) {
          lines.push(`${path}:${index + 1}: ${line.slice(0, longestLine)}`);
        }
      }
      // Looked for only where something is shown: it takes longer than the search.
      if (lines.length > 0 && !holdsSecret(text)) found.push(...lines);
      if (found.length > maxMatches) return;
    }
  };
  try {
    // Only there does a search end that a pattern makes endless.
    vm.runInNewContext("search()", { search }, { timeout: patternTime });
  } catch (error) {
    if (codeOf(error) !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    throw new ToolRefusal("The pattern takes too long.");
  }
  if (found.length === 0) return "No line matches.";
  if (found.length <= maxMatches) return found.join("\n");
  return `${found.slice(0, maxMatches).join("\n")}\n(there are more)`;
}
