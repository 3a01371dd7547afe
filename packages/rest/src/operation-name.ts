/** Names an operation on a collection by its whole path: two paths may end in the same word. */
export function collectionOperation(action: string, path: string): string {
  return action + path.split(/[/-]/).map(capitalized).join("");
}

/** Writes the name of a resource, or its plural, as words: `blog posts`. */
export function wordsOf(name: string): string {
  return name.replaceAll("-", " ");
}

/** Puts the indefinite article before the name of a resource: `an article`, `a blog post`. */
export function withArticle(name: string): string {
  const words = wordsOf(name);
  return `${/^(?:[aeio]|u(?!ni|s))/i.test(words) ? "an" : "a"} ${words}`;
}

/** Writes the first letter of a word in upper case. */
export function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
