import { deriveRequest, type Middleware } from "@fetchwork/http";
import { pathBounds, searchOf } from "../request/request-path.ts";
import { checkNoOptions } from "../check-options.ts";
import { refuse } from "../response/plain-answer.ts";

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

/**
 * Hands every request on under the canonical spelling of its path, so that guards, rewrites, routers and file servers
 * see one string and none of them can be passed by another spelling. Put it before everything that looks at the path.
 *
 * A path without a safe meaning (see {@link canonicalizePath}) is answered with 400.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` when it has an argument: it has no options
 */
export function canonicalPath(...none: readonly []): Middleware {
  checkNoOptions("canonicalPath", none);
  return (next) => (request, context) => {
    const { url } = request;
    if (!url.includes("%")) return next(request, context);
    const { start, end } = pathBounds(url);
    const path = url.slice(start, end);
    const canonical = canonicalizePath(path);
    if (canonical === undefined) return refuse(400, "Bad Request");
    if (canonical === path) return next(request, context);
    return next(deriveRequest(request, { url: canonical + searchOf(url) }), context);
  };
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
