import type { Context, Middleware } from "@fetchwork/http";
import { checkFunction } from "../check-options.ts";
import { placeOfSome } from "../order.ts";

/** Decides about one request. */
export type RequestCondition = (request: Request, context: Context) => boolean | Promise<boolean>;

/**
 * Runs a middleware only for requests that the condition allows. Others go directly to the handler.
 * The middleware is built once, and the condition called once per request. A condition that throws
 * fails the request.
 *
 * @example
 * ```ts
 * maybe(gzip(), (request) => !request.url.includes("/events"));
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` when an argument is not a function
 */
export function maybe(middleware: Middleware, condition: RequestCondition): Middleware {
  checkFunction(middleware, "middleware");
  checkFunction(condition, "condition");
  return placeOfSome([middleware], (next) => {
    const wrapped = middleware(next);
    return (request, context) => {
      const isAllowed = condition(request, context);
      if (isAllowed instanceof Promise) {
        return isAllowed.then((allowed) => (allowed ? wrapped : next)(request, context));
      }
      return (isAllowed ? wrapped : next)(request, context);
    };
  });
}
