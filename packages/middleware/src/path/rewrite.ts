import { createContextKey, deriveRequest, type Middleware } from "@fetchwork/http";
import { canonicalizePath, removeDotSegments } from "./canonical-path.ts";
import { optionError } from "../check-options.ts";
import { cleanDoubleSlashes } from "./clean-path.ts";
import { LinearPattern, type MatchBudget } from "./linear-pattern.ts";
import { parsePathTemplate, type PathTemplate } from "./path-template.ts";
import { refuse } from "../response/plain-answer.ts";
import { pathAndQueryOf, pathOf, searchOf } from "../request/request-path.ts";

// Both bound the time of one request: a step takes 5 to 20 ns.
const maxPathLength = 8192;
const maxSteps = 300_000;
// A replacement may repeat a group; this is longer than any server takes.
const maxResultLength = 65_536;

const rewrittenKey = createContextKey<boolean>("rewritten");

/**
 * Rewrites the path of requests: every match of the pattern in it becomes the replacement, once per exchange; later
 * rewrites leave a request alone that one has changed. The handler finds what the client asked for in the request
 * header `X-Original-URL`. A request that does not match stays as it is, and may bring such a header itself.
 *
 * The pattern is looked for anywhere in the canonical, still percent-encoded path (see {@link canonicalizePath});
 * `^` and `$` tie it to the ends. It is matched in linear time by an engine of our own, without back-references and
 * look-around. A path of more than 8,192 characters, or one on which the pattern takes more than 300,000 steps (about
 * 3 ms), is answered with 414; one without a safe meaning with 400.
 *
 * In the replacement `$1`, `${1}`, `${name}` and `$&` stand for groups. Its dot segments and repeated slashes are
 * cleaned away. With a `?` it replaces the query too; groups are escaped there.
 *
 * @param from - Text of a regular expression, or a `RegExp` with no flags but `i` and `g`; 1,000 characters at most.
 * @example
 * ```ts
 * rewrite("^/sites/(.*)/settings/$", "/sites/settings/$1");
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_PATTERN` when pattern or replacement are refused
 */
export function rewrite(from: string | RegExp, to: string): Middleware {
  const pattern = compile(from);
  if (typeof to !== "string") throw optionError("to", to, "text");
  const template = parsePathTemplate(to, pattern);

  return (next) => (request, context) => {
    if (context.get(rewrittenKey) === true) return next(request, context);
    const { url } = request;
    const path = pathOf(url);
    if (path.length > maxPathLength) return refuse(414, "URI Too Long");
    const canonical = canonicalizePath(path);
    if (canonical === undefined) return refuse(400, "Bad Request");
    const target = replaceAll(canonical, pattern, template);
    if (target === "too much") return refuse(414, "URI Too Long");
    if (target === undefined) return next(request, context);
    context.set(rewrittenKey, true);
    const rewritten = deriveRequest(request, {
      url: cleanTarget(target.path) + (target.query ?? searchOf(url)),
      headers: { "X-Original-URL": pathAndQueryOf(url) },
    });
    return next(rewritten, context);
  };
}

function compile(from: string | RegExp): LinearPattern {
  if (typeof from === "string") return new LinearPattern(from);
  if (!(from instanceof RegExp)) throw optionError("from", from, "text or a RegExp");
  if (/[^gi]/.test(from.flags)) {
    throw optionError("from", String(from), "a RegExp with no flags but i and g");
  }
  return new LinearPattern(from.source, { ignoreCase: from.ignoreCase });
}

interface Target {
  readonly path: string;
  readonly query: string | undefined;
}

function replaceAll(
  path: string,
  pattern: LinearPattern,
  template: PathTemplate,
): Target | "too much" | undefined {
  const budget: MatchBudget = { steps: maxSteps };
  let result = "";
  let query: string | undefined;
  let copied = 0;
  let lastEnd = -1;
  for (let from = 0; from <= path.length;) {
    const match = pattern.find(path, from, budget);
    if (budget.steps < 0 || result.length > maxResultLength) return "too much";
    if (match === undefined) break;
    const [start = 0, end = 0] = match;
    // An empty match right behind another one is none.
    if (end > start || start !== lastEnd) {
      result += path.slice(copied, start) + template.path(path, match);
      query = template.hasQuery ? `?${template.query(path, match)}` : undefined;
      copied = end;
      lastEnd = end;
    }
    from = end > start ? end : end + 1;
  }
  if (lastEnd === -1) return undefined;
  result += path.slice(copied);
  return result.length > maxResultLength ? "too much" : { path: result, query };
}

/** A path from the root, without dot segments and repeated slashes; one at the end stays. */
function cleanTarget(path: string): string {
  return removeDotSegments(cleanDoubleSlashes(`/${path}`));
}
