import { Problem } from "./problem.ts";

/** The entity tag of a document: its version. */
export function etagOf(version: number): string {
  return `"${version}"`;
}

/** Whether `If-None-Match` holds the current tag, compared weakly (RFC 9110 section 13.1.2). */
export function noneMatchHolds(header: string | null, version: number): boolean {
  if (header === null) return false;
  const tags = parse(header);
  return tags === "*" || tags.some((tag) => tag.replace(/^W\//, "") === etagOf(version));
}

/**
 * Applies `If-Match` to the current version, compared strongly (RFC 9110 section 13.1.1).
 *
 * @throws Problem 412 unless the current tag is among those that were given.
 */
export function requireMatch(header: string | null, version: number): void {
  if (header === null) return;
  const tags = parse(header);
  if (tags === "*" || tags.includes(etagOf(version))) return;
  throw preconditionFailed(version);
}

/** Refuses a change that was meant for another version. */
export function preconditionFailed(version: number): Problem {
  return new Problem(412, {
    detail: "the document has changed since",
    headers: { etag: etagOf(version) },
  });
}

/** A list of entity tags; a comma may stand inside one (RFC 9110 section 8.8.3). */
function parse(header: string): "*" | readonly string[] {
  if (header.trim() === "*") return "*";
  return header.match(/(?:W\/)?"[\x21\x23-\x7e\x80-\u{10ffff}]*"/gu) ?? [];
}
