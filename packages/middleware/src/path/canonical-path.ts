import { deriveRequest, type Middleware } from "@fetchwork/http";
import { canonicalizePath } from "./canonicalize-path.ts";
import { pathBounds, searchOf } from "../request/request-url.ts";
import { checkNoOptions } from "../check-options.ts";
import { refuse } from "../response/plain-response.ts";
import { place } from "../order.ts";

export { canonicalizePath } from "./canonicalize-path.ts";

/**
 * Passes every request on with the canonical spelling of its path. Guards, rewrites, routers and
 * file servers see one string, and no other spelling gets around them. Put it outside everything
 * that looks at the path.
 *
 * An ambiguous path (see {@link canonicalizePath}) gets 400.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` when it has an argument: it has no options
 */
export function canonicalPath(...none: readonly []): Middleware {
  checkNoOptions("canonicalPath", none);
  return place("canonicalPath", (next) => (request, context) => {
    const { url } = request;
    if (!url.includes("%")) return next(request, context);
    const { start, end } = pathBounds(url);
    const path = url.slice(start, end);
    const canonical = canonicalizePath(path);
    if (canonical === undefined) return refuse(400, "Bad Request");
    if (canonical === path) return next(request, context);
    return next(deriveRequest(request, { url: canonical + searchOf(url) }), context);
  });
}
