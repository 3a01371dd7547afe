/** Quotes a text. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Writes the path of a field. A name between double quotes is taken literally; SQLite reads the escapes of JSON in it. */
export function jsonPath(segments: readonly string[]): string {
  return `$${segments.map((name) => `.${JSON.stringify(name)}`).join("")}`;
}
