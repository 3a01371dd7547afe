/**
 * Makes a text that is found wherever it is shown, another one for each number of six or seven
 * digits.
 */
export function marked(number: number): string {
  return `zq${number}xv`;
}

/** Makes an address that is found wherever it is shown. */
export function markedEmail(number: number): string {
  return `${marked(number)}@example.com`;
}

/** Whether a caller is the admin. */
export function isAdmin(kind: string): boolean {
  return kind === "admin";
}

/** The identifier of a document, as an API shows it. */
export function idFrom(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}
