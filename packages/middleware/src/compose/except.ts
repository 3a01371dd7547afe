import type { Context, Middleware } from "@fetchwork/http";
import { checkFunction, checkList, optionError } from "../check-options.ts";
import { placeOfSome } from "../order.ts";
import { pathOf } from "../request/request-url.ts";
import type { RequestCondition } from "./maybe.ts";

/**
 * Runs middlewares for all requests except some: those of a path, of one of several paths, or those
 * for which a function returns true. The excepted ones go straight to the handler.
 *
 * A path is exact, such as `/health`, or ends with a star that stands for any rest. So `/public/*`
 * excepts `/public/a/b` and not `/public`. A path with `//`, an encoded slash, backslash or dot is
 * never excepted, because a router may read it as another one.
 *
 * @example
 * ```ts
 * except(["/sign-in", "/public/*"], bearerAuth({ jwksUrl, issuer, audience }));
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` when a path does not start with a slash or has a
 * star elsewhere
 */
export function except(
  condition: string | readonly string[] | RequestCondition,
  ...middlewares: readonly Middleware[]
): Middleware {
  const isExcepted = typeof condition === "function" ? condition : pathCondition(condition);
  if (middlewares.length === 0) throw optionError("middlewares", [], "at least one middleware");
  for (const middleware of middlewares) checkFunction(middleware, "middleware");
  return placeOfSome(middlewares, (next) => {
    const wrapped = middlewares.reduceRight((inner, middleware) => middleware(inner), next);
    return (request: Request, context: Context) => {
      const decided = isExcepted(request, context);
      if (decided instanceof Promise) {
        return decided.then((found) => (found ? next : wrapped)(request, context));
      }
      return (decided ? next : wrapped)(request, context);
    };
  });
}

function pathCondition(given: string | readonly string[]): (request: Request) => boolean {
  const paths = typeof given === "string" ? [given] : given;
  checkList(paths, "paths");
  const exact = new Set<string>();
  const starts: string[] = [];
  for (const path of paths) {
    if (typeof path !== "string" || !/^\/[^*?#\s]*(?:(?<=\/)\*)?$/.test(path)) {
      throw optionError("path", path, "a path such as /health or /public/*");
    }
    if (path.endsWith("*")) starts.push(path.slice(0, -1));
    else exact.add(path);
  }
  return ({ url }) => {
    const path = pathOf(url);
    if (ambiguousPath.test(path)) return false;
    return exact.has(path) || starts.some((start) => path.startsWith(start));
  };
}

const ambiguousPath = /\/\/|\\|%2[ef]|%5c/i;
