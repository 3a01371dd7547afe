import { canonicalizePath } from "./canonicalize-path.ts";
import { MiddlewareError } from "../errors.ts";
import { hostOf, pathOf } from "../request/request-url.ts";

/** Decides whether a request matches a pattern. */
export type RequestMatcher = (request: Request) => boolean;

interface Pattern {
  readonly method: string | undefined;
  readonly host: string | undefined;
  /** Literal segments, decoded; `null` for a wildcard of one segment. */
  readonly segments: readonly (string | null)[];
  /** Whether anything may follow the segments. */
  readonly isOpen: boolean;
}

/**
 * Compiles a pattern of Go's `http.ServeMux`: `[METHOD ][HOST]/PATH`. `{name}` in the path matches
 * one segment, `{name...}` at its end for all that follow, `{$}` for the end; a path that ends with
 * a slash covers all below it, any other only itself. `GET` covers `HEAD`.
 *
 * A path that a server may read in two ways matches nothing: one with an empty segment, an encoded
 * slash or backslash, or an invalid escape.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_PATTERN`
 */
export function bypassPattern(text: string): RequestMatcher {
  const pattern = parsePattern(text);
  return (request) => {
    const { method } = request;
    if (pattern.method !== undefined && pattern.method !== method) {
      if (pattern.method !== "GET" || method !== "HEAD") return false;
    }
    if (pattern.host !== undefined && pattern.host !== hostOf(request.url).replace(/:\d*$/, "")) {
      return false;
    }
    return matchesPath(pathOf(request.url), pattern);
  };
}

function matchesPath(path: string, { segments, isOpen }: Pattern): boolean {
  if (path.includes("//") || /%2f/i.test(path)) return false;
  const canonical = canonicalizePath(path);
  const parts = canonical === undefined ? undefined : splitPath(canonical);
  if (parts === undefined) return false;
  if (isOpen ? parts.length <= segments.length : parts.length !== segments.length) return false;
  return segments.every((segment, index) => {
    const part = parts[index] ?? "";
    return segment === null ? part !== "" : segment === part;
  });
}

function parsePattern(text: string): Pattern {
  if (typeof text !== "string") throw patternError(typeof text, "text");
  const match = /^(?:([!#$%&'*+\-.^_`|~\dA-Za-z]+)[ \t]+)?([^/{}\s]*)(\/\S*)$/.exec(text);
  if (match === null) throw patternError(text, "[METHOD ][HOST]/PATH");
  const [, method, host, path = ""] = match;
  if (path !== "/" && /\/\/|\/\.{1,2}(?:\/|$)/.test(path)) {
    throw patternError(text, "a path without empty and dot segments");
  }
  const parts = path.slice(1).split("/");
  const last = parts.at(-1) ?? "";
  const isRest = /^\{[A-Za-z_]\w*\.\.\.\}$/.test(last);
  const isOpen = last === "" || isRest;
  const kept = isOpen ? parts.slice(0, -1) : parts;
  const segments = kept.map((part, index) => {
    if (part === "{$}" && index === parts.length - 1) return "";
    if (/^\{[A-Za-z_]\w*\}$/.test(part)) return null;
    const decoded = /[{}?#]/.test(part) ? undefined : decodeSegment(part);
    if (decoded === undefined) throw patternError(text, "segments that are text or {name}");
    return decoded;
  });
  checkNames(text, parts);
  return { method, host: host === "" ? undefined : host?.toLowerCase(), segments, isOpen };
}

function checkNames(text: string, parts: readonly string[]): void {
  const names = parts
    .map((part) => /^\{(\w+)/.exec(part)?.[1])
    .filter((name) => name !== undefined);
  if (new Set(names).size !== names.length) throw patternError(text, "each name once");
}

function splitPath(path: string): readonly string[] | undefined {
  const parts: string[] = [];
  for (const part of path.slice(1).split("/")) {
    const decoded = decodeSegment(part);
    if (decoded === undefined) return undefined;
    parts.push(decoded);
  }
  return parts;
}

function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

function patternError(text: string, expected: string): MiddlewareError {
  return new MiddlewareError(
    "ERR_MIDDLEWARE_PATTERN",
    `pattern must be ${expected}, got ${JSON.stringify(text.slice(0, 100))}`,
  );
}
