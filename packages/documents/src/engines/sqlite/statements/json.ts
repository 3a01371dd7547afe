/** Quotes a text. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Writes a field's path. SQLite takes quoted names literally, with JSON escapes. */
export function jsonPath(segments: readonly string[]): string {
  return `$${segments.map((name) => `.${JSON.stringify(name)}`).join("")}`;
}
