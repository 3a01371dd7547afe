/** Folds text for comparison: compatibility forms, accents, case and the final sigma aside. */
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

/** Splits a keyword query into the folded words that must each occur. */
export function foldedWords(query: string): readonly string[] {
  const words = fold(query.toWellFormed()).split(/[\s\0]+/u);
  return [...new Set(words)].filter((word) => word !== "");
}
