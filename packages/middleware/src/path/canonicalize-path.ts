import { pathOf } from "../request/request-url.ts";

/**
 * Returns the canonical spelling of a path (RFC 3986, 6.2.2): `/%61dmin` is `/admin`, `%2f` is
 * `%2F`, and dot segments are resolved, encoded ones too. Reserved characters stay encoded, so the
 * meaning does not change. Returns undefined for an ambiguous path: one with a `%` without two hex
 * digits, a NUL, or a backslash, which some servers read as a slash.
 */
export function canonicalizePath(path: string): string | undefined {
  if (path.includes("\\")) return undefined;
  if (!path.includes("%") && !path.includes("/.")) return path;
  if (/%(?![\da-fA-F]{2})|%00|%5c/i.test(path)) return undefined;
  return removeDotSegments(path.replace(/%[\da-fA-F]{2}/g, normalizeEscape));
}

function normalizeEscape(escape: string): string {
  const code = Number.parseInt(escape.slice(1), 16);
  const character = String.fromCharCode(code);
  return /[A-Za-z\d\-._~]/.test(character) ? character : escape.toUpperCase();
}

/** RFC 3986, 5.2.4; empty segments stay. */
export function removeDotSegments(path: string): string {
  if (!path.includes("/.")) return path;
  const kept: string[] = [];
  const segments = path.split("/");
  segments.forEach((segment, index) => {
    const isLast = index === segments.length - 1;
    if (segment === ".." && kept.length > 1) kept.pop();
    if (segment === "." || segment === "..") {
      if (isLast) kept.push("");
    } else {
      kept.push(segment);
    }
  });
  return kept.length === 1 ? "/" : kept.join("/");
}

/** Whether the path of a URL ends with `ending`, in any case. `ending` is in lower case. */
export function pathEndsWith(url: string, ending: string): boolean {
  const path = pathOf(url);
  const canonical = path.includes("%") ? (canonicalizePath(path) ?? path) : path;
  return canonical.slice(-ending.length).toLowerCase() === ending;
}

/** Replaces each run of slashes by one slash: `//api//v1/` is `/api/v1/`. */
export function cleanDoubleSlashes(path: string): string {
  return path.includes("//") ? path.replace(/\/{2,}/g, "/") : path;
}
