import { resolve } from "node:path";
import type { ContextFile } from "../calls/prompts.ts";
import { describeDeclarations } from "../check/describe-declarations.ts";
import { checkCount, requireText } from "../errors.ts";
import { readProjectFiles } from "../run/read-project-files.ts";
import { ConfinedFolder } from "../workspace/confined-folder.ts";
import { mayBeSecret } from "./secret-files.ts";

/** How a project is packed. */
export interface PackOptions {
  /** Most tokens of the text, by the estimate of {@link estimateTokens}. Default: `100_000`. */
  readonly maxTokens?: number | undefined;
  /** A text that names files: an error, a request. They come before others. Default: none. */
  readonly about?: string | undefined;
  /** Most files that are looked at. Default: `1_000`. */
  readonly maxFiles?: number | undefined;
}

/** A project as one text. */
export interface PackedProject {
  /** Markdown: every path, then the files. */
  readonly text: string;
  /** About how many tokens the text has. */
  readonly tokens: number;
  /** Files that are there with all of their text. */
  readonly whole: readonly string[];
  /** Files of which only what they declare is there. */
  readonly declared: readonly string[];
  /** Files that are there by name only: no room, no text, secrets, lock files, what tools make. */
  readonly omitted: readonly string[];
}

const isMade =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|poetry\.lock|Cargo\.lock|composer\.lock)$|\.min\.(?:js|css)$|\.map$/i;

/** Characters of one file's declarations. */
const longestDeclarations = 2_000;

/** About how many tokens a text has: a token for three and a half bytes, as code has them. A tokenizer counts otherwise. */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 3.5);
}

/**
 * Reads a project into one text that fits a model's context: files that `about` names first, then small ones before large
 * ones; what has no room is there by what it declares, or by its name. It asks no model.
 *
 * Files that hold secrets as a rule (`.env`, keys, certificates) are named and left out; a secret that stands elsewhere is
 * not noticed.
 *
 * @throws AgentUsageError `ERR_AGENT_OPTION` as a rejection for a wrong limit
 * @throws AgentError as a rejection, when the folder cannot be read or has too many files
 */
export async function packProject(
  folder: string,
  options: PackOptions = {},
): Promise<PackedProject> {
  const { maxTokens = 100_000, about = "", maxFiles = 1_000 } = options;
  checkCount("maxTokens", maxTokens);
  checkCount("maxFiles", maxFiles);
  const place = resolve(requireText("folder", folder));
  const confined = await ConfinedFolder.open(place, { mustExist: true });
  const files = await readProjectFiles(confined, { maxFiles });
  const head = listOf([...files.keys()], maxTokens);
  let room = maxTokens - estimateTokens(head);
  const shown: ContextFile[] = [];
  for (const [path, source] of inOrder(files, about)) {
    const whole = block({ path, form: "text", text: source });
    if (estimateTokens(whole) <= room) {
      shown.push({ path, form: "text", text: source });
      room -= estimateTokens(whole);
      continue;
    }
    const text = await describeDeclarations(path, source, longestDeclarations);
    const cost = estimateTokens(block({ path, form: "declarations", text }));
    if (text.trim() === "" || cost > room) continue;
    shown.push({ path, form: "declarations", text });
    room -= cost;
  }
  const sorted = shown.toSorted((left, right) => (left.path < right.path ? -1 : 1));
  const text = head + sorted.map((file) => block(file)).join("");
  const known = new Set(shown.map(({ path }) => path));
  return {
    text,
    tokens: estimateTokens(text),
    whole: sorted.filter(({ form }) => form === "text").map(({ path }) => path),
    declared: sorted.filter(({ form }) => form === "declarations").map(({ path }) => path),
    omitted: [...files.keys()].filter((path) => !known.has(path)),
  };
}

/** The files that have a text to show, the most wanted first. */
function inOrder(
  files: ReadonlyMap<string, string>,
  about: string,
): readonly (readonly [string, string])[] {
  const said = about.replaceAll("\\", "/");
  const rank = (path: string): number => {
    if (said.includes(path)) return 0;
    const name = path.slice(path.lastIndexOf("/") + 1);
    if (said !== "" && said.includes(name)) return 1;
    return /^(?:package\.json|README\.md|shared_deps\.md)$/.test(path) ? 2 : 3;
  };
  return [...files]
    .filter(([path, text]) => text !== "" && !mayBeSecret(path) && !isMade.test(path))
    .toSorted(
      ([left, a], [right, b]) =>
        rank(left) - rank(right) || a.length - b.length || (left < right ? -1 : 1),
    );
}

/** Every path, or as many as may take a quarter of the room. */
function listOf(paths: readonly string[], maxTokens: number): string {
  const lines: string[] = [];
  let room = maxTokens / 4;
  for (const path of paths) {
    room -= estimateTokens(`- ${path}\n`);
    if (room < 0) break;
    lines.push(`- ${path}\n`);
  }
  const left = paths.length - lines.length;
  return `# Files\n\n${lines.join("")}${left > 0 ? `- and ${left} more\n` : ""}\n`;
}

/** One file, in a fence that is longer than any in it. */
function block({ path, form, text }: ContextFile): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`{3,}/g), ([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  const what = form === "text" ? "" : " (what it declares)";
  return `## ${path}${what}\n\n${fence}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}\n\n`;
}
