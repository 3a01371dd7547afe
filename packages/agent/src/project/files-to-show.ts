import type { ContextFile } from "../calls/prompts.ts";
import { describeDeclarations } from "../check/describe-declarations.ts";
import { holdsSecret, mayBeSecret } from "./secret-files.ts";

/** Files of a program that a model is shown. */
export interface ShownFiles {
  readonly files: readonly ContextFile[];
  /** Every path, or as many as may take a quarter of the room. */
  readonly paths: readonly string[];
}

const isMade =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|poetry\.lock|Cargo\.lock|composer\.lock)$|\.min\.(?:js|css)$|\.map$/i;

/** Characters of one file's declarations. */
const longestDeclarations = 2_000;

/**
 * Chooses what has room in a question: files that `about` names first, then small ones before large
 * ones; what has no room is there by what it declares, or by its path. Secrets, lock files and what
 * tools make are there by their paths.
 */
export async function filesToShow(
  files: ReadonlyMap<string, string>,
  { maxTokens, about }: { readonly maxTokens: number; readonly about: string },
): Promise<ShownFiles> {
  const paths = firstOf([...files.keys()], maxTokens / 4);
  let room = maxTokens - paths.reduce((sum, path) => sum + tokensOf(path), 0);
  const shown: ContextFile[] = [];
  const show = (file: ContextFile): boolean => {
    const cost = tokensOf(file.path) + tokensOf(file.text);
    if (file.text.trim() === "" || cost > room) return false;
    room -= cost;
    return shown.push(file) > 0;
  };
  for (const [path, text] of inOrder(files, about)) {
    if (show({ path, form: "text", text })) continue;
    const declared = await describeDeclarations(path, text, longestDeclarations);
    show({ path, form: "declarations", text: declared });
  }
  return { files: shown.toSorted((left, right) => (left.path < right.path ? -1 : 1)), paths };
}

/** Approximate tokens of a text and its frame, at the rate of code: 3.5 bytes each. */
export function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 3.5) + 5;
}

function firstOf(paths: readonly string[], maxTokens: number): readonly string[] {
  let room = maxTokens;
  return paths.filter((path) => (room -= tokensOf(path)) >= 0);
}

/** The files that have a text to show, the most wanted first. */
function inOrder(
  files: ReadonlyMap<string, string>,
  about: string,
): readonly (readonly [string, string])[] {
  const searched = about.replaceAll("\\", "/");
  const rank = (path: string): number => {
    if (searched.includes(path)) return 0;
    const name = path.slice(path.lastIndexOf("/") + 1);
    if (searched.includes(name)) return 1;
    return /^(?:package\.json|README\.md|shared_deps\.md)$/.test(path) ? 2 : 3;
  };
  return [...files]
    .filter(([path, text]) => !mayBeSecret(path) && !isMade.test(path) && !holdsSecret(text))
    .toSorted(
      ([left, a], [right, b]) =>
        rank(left) - rank(right) || a.length - b.length || (left < right ? -1 : 1),
    );
}
