import { fold } from "./fold.ts";

/** Stands between the two parts of a key, before every character of a text. */
const separator = "\u0001";

/**
 * Returns the key that a text is sorted by where a field has a collation: first without case and accents, then with
 * accents. Two texts have the same key when they differ in case only.
 *
 * @internal
 */
export function collationKey(text: string): string {
  return fold(text) + separator + foldCase(text);
}

/**
 * Returns what a value is sorted by where its field has a collation, and `other` makes the same of all but texts.
 *
 * @internal
 */
export function collatedValue<R>(value: unknown, other: (value: unknown) => R): R | string {
  return typeof value === "string" ? collationKey(value) : other(value);
}

function foldCase(text: string): string {
  // Upper case first: it is what makes "ß" and "ss" alike. SQLite reads the two noncharacters as U+FFFD.
  return text
    .normalize("NFKC")
    .replaceAll(/[\uFFFE\uFFFF]/gu, "")
    .toUpperCase()
    .toLowerCase()
    .replaceAll("ς", "σ")
    .normalize("NFC");
}
