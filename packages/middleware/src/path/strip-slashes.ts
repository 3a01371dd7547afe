import { deriveRequest, type Middleware } from "@fetchwork/http";
import { checkNoOptions } from "../check-options.ts";
import { pathBounds, searchOf } from "../request/request-url.ts";

/**
 * Passes requests on without the slash at the end of their path: `/users/` is `/users`. One slash
 * is taken away, and the root stays. Inside `cleanPath` no other slash is left.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` when it has an argument: it has no options
 */
export function stripSlashes(...none: readonly []): Middleware {
  checkNoOptions("stripSlashes", none);
  return (next) => (request, context) => {
    const { url } = request;
    const { start, end } = pathBounds(url);
    if (end - start < 2 || url.charCodeAt(end - 1) !== slash) return next(request, context);
    const path = url.slice(start, end - 1);
    return next(deriveRequest(request, { url: path + searchOf(url) }), context);
  };
}

const slash = 0x2f;
