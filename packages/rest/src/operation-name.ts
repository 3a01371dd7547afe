/** Names an operation on a collection after the whole of its path, since two may end in the same word. */
export function collectionOperation(action: string, path: string): string {
  return action + path.split(/[/-]/).map(capitalized).join("");
}

/** Writes the first letter of a word in upper case. */
export function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
