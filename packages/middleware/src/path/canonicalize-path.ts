import { pathOf } from "../request/request-url.ts";

/**
 * Gives the one spelling that all spellings of a path share (RFC 3986, 6.2.2): `/%61dmin` is `/admin`, `%2f` is
 * `%2F`, and dot segments are resolved, also those that decoding brings to light. Reserved characters stay encoded, so
 * the meaning does not change. Gives `undefined` for a path that has no safe meaning: a `%` without two hex digits, a
 * NUL, or a backslash, which some take for a slash.
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

/** Whether the path of a URL ends with `ending`, whatever the case; `ending` is in lower case. */
export function pathEndsWith(url: string, ending: string): boolean {
  const path = pathOf(url);
  const canonical = path.includes("%") ? (canonicalizePath(path) ?? path) : path;
  return canonical.slice(-ending.length).toLowerCase() === ending;
}

/** Makes each run of slashes one slash: `//api//v1/` is `/api/v1/`. Everything else stays. */
export function cleanDoubleSlashes(path: string): string {
  return path.includes("//") ? path.replace(/\/{2,}/g, "/") : path;
}
