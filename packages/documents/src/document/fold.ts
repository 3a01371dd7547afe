import { valueAt } from "../api/field-path.ts";

const TRIGRAM = 3;

/**
 * Folds text for comparison: compatibility forms, accents, case and the final sigma aside.
 *
 * @internal
 */
export function fold(text: string): string {
  // ASCII has nothing but case to fold, and most texts are long and ASCII.
  if (/^\p{ASCII}*$/u.test(text)) return text.toLowerCase();
  return (
    text
      .normalize("NFKD")
      // SQLite reads the two noncharacters as U+FFFD, PostgreSQL does not.
      .replace(/[\p{M}\uFFFE\uFFFF]+/gu, "")
      // Upper case first: it is what makes "ß" and "ss" alike.
      .toUpperCase()
      .toLowerCase()
      .replaceAll("ς", "σ")
  );
}

/**
 * Splits a keyword query into the folded words that must each occur.
 *
 * @internal
 */
export function foldedWords(query: string): readonly string[] {
  const words = fold(query.toWellFormed()).split(/[\s\0]+/u);
  return [...new Set(words)].filter((word) => word !== "");
}

/**
 * Tells whether a folded word is too short for the trigram index, so that texts must be read for it.
 *
 * @internal
 */
export function isShortWord(word: string): boolean {
  return word.length < 2 * TRIGRAM && Array.from(word).length < TRIGRAM;
}

/**
 * Gathers the folded text of some fields: strings, numbers and lists of them.
 *
 * @internal
 */
export function searchText(
  document: unknown,
  paths: readonly { readonly segments: readonly string[] }[],
): string {
  const parts: string[] = [];
  for (const { segments } of paths) collect(valueAt(document, segments), parts);
  // The line break keeps a word of the query from matching across two fields.
  return fold(parts.join("\n"));
}

/**
 * Whether all folded words occur in a search text, as a search by the index has it.
 *
 * @internal
 */
export function hasWords(text: string, words: readonly string[]): boolean {
  return words.every((word) => text.includes(word));
}

function collect(value: unknown, parts: string[]): void {
  if (typeof value === "string") parts.push(value);
  else if (typeof value === "number") parts.push(String(value));
  else if (Array.isArray(value)) for (const item of value) collect(item, parts);
}
