/** Encodes all but unreserved characters (RFC 6570, 3.2.1, `U`). Lone surrogate: U+FFFD. */
export function encodeUnreserved(text: string): string {
  // Values are mostly plain: looking is several times cheaper than encoding.
  if (!/[^\w.~-]/.test(text)) return text;
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/**
 * Encodes everything but unreserved and reserved characters and triplets such as `%2F` (RFC 6570
 * section 3.2.1, `U+R`). A lone surrogate becomes U+FFFD.
 */
export function encodeReserved(text: string): string {
  if (!/[^\w.~:/?#[\]@!$&'()*+,;=-]/.test(text)) return text;
  return keepBrackets(encodeURI(text.toWellFormed())).replace(/%25([\da-f]{2})/gi, "%$1");
}

/** Turns encoded square brackets back. */
export function keepBrackets(text: string): string {
  return text.includes("%5") ? text.replaceAll("%5B", "[").replaceAll("%5D", "]") : text;
}
