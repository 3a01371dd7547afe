import { valueAt } from "../api/field-path.ts";
import { fold } from "./fold.ts";

/** Words of fewer characters match beginnings of words only. */
const partLength = 3;

const sampledParts = 12;

/** Stands for white space, and before everything: a word of one character has a trigram by it. */
const space = "  ";
/** Precedes a word that begins without white space. No separator of words is both. */
const border = "   ";

/** Scripts without spaces between words, so that every character may begin one. */
const unspaced = ["Han", "Hira", "Kana", "Thai", "Lao", "Khmer", "Myanmar", "Bopo"]
  .map((script) => `\\p{scx=${script}}`)
  .join("");
/** A character of words that are separated. */
const letter = `(?![${unspaced}])[\\p{L}\\p{N}]`;
/** A character that is a word by itself: a symbol, or one of a script without spaces. */
const single = `(?!${letter})[^ ]`;

const whiteSpace = /[\s\0]+/gu;
const onlyAscii = /^\p{ASCII}*$/u;
const anyText = {
  begins: new RegExp(`(${single})(?=${letter})`, "gu"),
  singles: new RegExp(`(?=(${single}[^ ]?))`, "gu"),
};
/** The same for texts of ASCII only, which are most, in a third of the time. */
const asciiText = {
  begins: /([^ a-z0-9])(?=[a-z0-9])/g,
  singles: /(?=([^ a-z0-9][^ ]?))/g,
};

/**
 * Gathers the text of some fields, strings, numbers and lists of them, in the form in which it is
 * searched.
 *
 * All engines find texts by their trigrams. For words of three characters and more the folded text
 * has them. For shorter ones there are two spaces or more before each beginning of a word. At the
 * end is each character that is a word by itself, with the one that follows it. The insertions
 * depend on neighbouring characters only, so a word of a query gets the same; see
 * {@link searchPattern}.
 */
export function searchText(
  document: unknown,
  paths: readonly { readonly segments: readonly string[] }[],
): string {
  const text = foldedText(document, paths).trim().replace(whiteSpace, space);
  const { begins, singles } = onlyAscii.test(text) ? asciiText : anyText;
  const pairs = new Set<string>();
  for (const [, pair = ""] of text.matchAll(singles)) pairs.add(space + pair);
  return space + text.replace(begins, `$1${border}`) + [...pairs].join("");
}

/**
 * Returns the text that only the search texts of documents with a folded word have. A short word
 * has the space before it, so that it has a trigram.
 */
export function searchPattern(word: string): string {
  const characters = Array.from(word);
  if (characters.length >= partLength) return word.replace(anyText.begins, `$1${border}`);
  return word.padStart(partLength + word.length - characters.length);
}

/**
 * Returns some of the trigrams by which indexes find patterns, and the number of all. They are
 * evenly chosen and always as many, so that statements stay the same.
 */
export function partsOf(patterns: readonly string[]): {
  readonly parts: readonly string[];
  readonly count: number;
} {
  const all = new Set<string>();
  for (const pattern of patterns) {
    const characters = Array.from(pattern);
    for (let at = 0; at + partLength <= characters.length; at += 1) {
      all.add(characters.slice(at, at + partLength).join(""));
    }
  }
  const known = [...all];
  const at = (place: number): number => Math.floor((place * known.length) / sampledParts);
  const parts = Array.from({ length: sampledParts }, (_, place) => known[at(place)] ?? "");
  return { parts, count: known.length };
}

/** Whether a text that has one pattern always has the other. */
export function isImplied(pattern: string, { by }: { readonly by: string }): boolean {
  return (by.startsWith(" ") ? ` ${by}` : by).includes(pattern);
}

/** Whether a folded word is so short that it matches beginnings of words only. */
export function isShortWord(word: string): boolean {
  return word.length < 2 * partLength && Array.from(word).length < partLength;
}

/** Gathers the folded text of some fields: strings, numbers and lists of them. */
function foldedText(
  document: unknown,
  paths: readonly { readonly segments: readonly string[] }[],
): string {
  const parts: string[] = [];
  for (const { segments } of paths) collect(valueAt(document, segments), parts);
  // The line break keeps a word of the query from matching across two fields.
  return fold(parts.join("\n"));
}

/** Whether a search text has all patterns of a query, as a search by the index has it. */
export function hasPatterns(text: string, patterns: readonly string[]): boolean {
  return patterns.every((pattern) => text.includes(pattern));
}

function collect(value: unknown, parts: string[]): void {
  if (typeof value === "string") parts.push(value);
  else if (typeof value === "number") parts.push(String(value));
  else if (Array.isArray(value)) for (const item of value) collect(item, parts);
}
