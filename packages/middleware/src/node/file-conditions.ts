import { etagMatches } from "../content/etag-matches.ts";

/** Identifiers of a version of a representation. */
export interface Validators {
  /** Weak: made of size and time, not of the bytes. */
  readonly etag: string;
  /** Time of the last change, in whole seconds since 1970. */
  readonly modified: number;
}

/**
 * Evaluates the conditions of a request in the order of RFC 9110, 13.2.2: 412, 304, or `undefined`
 * to go on.
 */
export function evaluateConditions(
  headers: Headers,
  { etag, modified }: Validators,
): 304 | 412 | undefined {
  const ifMatch = headers.get("if-match");
  if (ifMatch !== null) {
    // The strong comparison (8.8.3.2) knows no weak tag.
    if (ifMatch.trim() !== "*") return 412;
  } else {
    const unmodifiedSince = parseDate(headers.get("if-unmodified-since"));
    if (unmodifiedSince !== undefined && modified > unmodifiedSince) return 412;
  }
  const ifNoneMatch = headers.get("if-none-match");
  if (ifNoneMatch !== null) {
    return ifNoneMatch.trim() === "*" || etagMatches(ifNoneMatch, etag) ? 304 : undefined;
  }
  const modifiedSince = parseDate(headers.get("if-modified-since"));
  return modifiedSince !== undefined && modified <= modifiedSince ? 304 : undefined;
}

/**
 * Whether a range may be sent: without `If-Range`, or when that is the exact date of the last
 * change (RFC 9110, 13.1.5). A tag never counts, because ours are weak.
 */
export function allowsRange(headers: Headers, { modified }: Validators): boolean {
  const ifRange = headers.get("if-range");
  return ifRange === null || parseDate(ifRange) === modified;
}

/** Reads a date in the only form that is sent today (RFC 9110, 5.6.7); ignores others. */
function parseDate(field: string | null): number | undefined {
  if (
    field === null ||
    !/^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/.test(field)
  ) {
    return undefined;
  }
  const time = Date.parse(field);
  return Number.isNaN(time) ? undefined : time / 1000;
}
