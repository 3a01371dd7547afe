import { createContextKey, deriveRequest, type Middleware } from "@fetchwork/http";
import { optionError } from "../check-options.ts";
import { MiddlewareError } from "../errors.ts";
import { pathAndQueryOf, pathOf, searchOf } from "../request/request-url.ts";
import { refuse } from "../response/plain-response.ts";
import { canonicalizePath, cleanDoubleSlashes, removeDotSegments } from "./canonicalize-path.ts";
import { parsePathTemplate, type PathTemplate, type PatternGroups } from "./path-template.ts";
import { place } from "../order.ts";

// Bounds what one request costs with a native RegExp, together with a pattern that does not
// backtrack far.
const maxPathLength = 8192;
// A replacement may repeat a group. No server accepts a longer request target.
const maxResultLength = 65_536;

const rewrittenKey = createContextKey<boolean>("rewritten");

/** A compiled pattern of another engine, such as `RE2JS.compile(…)` of `re2js`. */
interface PathPattern {
  /** All matches in a text, from left to right, as `String.prototype.matchAll` returns them. */
  matchAll(text: string): Iterable<RegExpMatchArray>;
}

/**
 * Rewrites the path of requests: every match of the pattern becomes the replacement, once per
 * exchange. Later rewrites skip a request that an earlier one has changed. The handler finds the
 * original path and query in the request header `X-Original-URL`. A request that does not match
 * stays as it is, with an `X-Original-URL` that the client may have sent.
 *
 * The pattern is searched for anywhere in the canonical, still percent-encoded path (see {@link
 * canonicalizePath}); use `^` and `$` to match the whole path. A path of more than 8,192 characters
 * gets 414, an ambiguous one 400.
 *
 * A native `RegExp` may take exponential time for some patterns, such as `(a+)+$`. Use one only for
 * patterns that you write. For a pattern that comes from outside, pass a pattern of `re2js`, which
 * matches in linear time.
 *
 * In the replacement `$1`, `${1}`, `${name}` and `$&` stand for groups. Its dot segments and
 * repeated slashes are removed. With a `?` it replaces the query too; groups are escaped there.
 *
 * @param from - Source of a regular expression, a `RegExp` without the flag `y`, or a pattern of
 * another engine.
 * @param to - The replacement: a path, optionally with a query.
 * @example
 * ```ts
 * rewrite("^/sites/(.*)/settings/$", "/sites/settings/$1");
 * rewrite(RE2JS.compile(patternFromUser), "/x/$1");
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_PATTERN` for an invalid pattern or replacement
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function rewrite(from: string | RegExp | PathPattern, to: string): Middleware {
  const { pattern, groups } = compile(from);
  if (typeof to !== "string") throw optionError("to", to, "text");
  const template = parsePathTemplate(to, groups);

  return place("rewrite", (next) => (request, context) => {
    if (context.get(rewrittenKey) === true) return next(request, context);
    const { url } = request;
    const path = pathOf(url);
    if (path.length > maxPathLength) return refuse(414, "URI Too Long");
    const canonical = canonicalizePath(path);
    if (canonical === undefined) return refuse(400, "Bad Request");
    const target = replaceAll(canonical, pattern, template);
    if (target === "too long") return refuse(414, "URI Too Long");
    if (target === undefined) return next(request, context);
    context.set(rewrittenKey, true);
    const rewritten = deriveRequest(request, {
      url: cleanTarget(target.path) + (target.query ?? searchOf(url)),
      headers: { "X-Original-URL": pathAndQueryOf(url) },
    });
    return next(rewritten, context);
  });
}

function compile(from: string | RegExp | PathPattern): {
  readonly pattern: PathPattern;
  readonly groups?: PatternGroups;
} {
  if (typeof from === "string" || from instanceof RegExp) {
    const regexp = compileNative(from);
    const pattern: PathPattern = { matchAll: (text) => text.matchAll(regexp) };
    return { pattern, groups: groupsOf(regexp) };
  }
  if (typeof from === "object" && from !== null && typeof from.matchAll === "function") {
    return { pattern: from };
  }
  throw optionError("from", from, "text, a RegExp or a pattern with matchAll()");
}

function compileNative(from: string | RegExp): RegExp {
  if (typeof from === "string") {
    try {
      return new RegExp(from, "g");
    } catch (cause) {
      const message = `invalid pattern ${JSON.stringify(from.slice(0, 100))}`;
      throw new MiddlewareError("ERR_MIDDLEWARE_PATTERN", message, { cause });
    }
  }
  if (from.sticky) throw optionError("from", String(from), "a RegExp without the flag y");
  return from.global ? new RegExp(from) : new RegExp(from, `${from.flags}g`);
}

function groupsOf({ source, flags }: RegExp): PatternGroups {
  // With an empty alternative the pattern matches the empty text, and the match lists all groups.
  const match = new RegExp(`${source}|`, flags).exec("");
  return { count: (match?.length ?? 1) - 1, names: Object.keys(match?.groups ?? {}) };
}

interface Target {
  readonly path: string;
  readonly query: string | undefined;
}

function replaceAll(
  path: string,
  pattern: PathPattern,
  template: PathTemplate,
): Target | "too long" | undefined {
  let result = "";
  let query: string | undefined;
  let lastEnd = -1;
  for (const match of pattern.matchAll(path)) {
    const { index: start = 0 } = match;
    const end = start + match[0].length;
    // An empty match right after another match does not count, as in Go.
    if (end === start && start === lastEnd) continue;
    result += path.slice(Math.max(lastEnd, 0), start) + template.path(match);
    if (result.length > maxResultLength) return "too long";
    if (template.query !== undefined) query = `?${template.query(match)}`;
    lastEnd = end;
  }
  if (lastEnd === -1) return undefined;
  result += path.slice(lastEnd);
  return result.length > maxResultLength ? "too long" : { path: result, query };
}

/** A path from the root, without dot segments and repeated slashes. A slash at the end stays. */
function cleanTarget(path: string): string {
  return removeDotSegments(cleanDoubleSlashes(`/${path}`));
}
