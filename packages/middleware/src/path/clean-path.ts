import { deriveRequest, type Middleware } from "@fetchwork/http";
import { checkNoOptions } from "../check-options.ts";
import { cleanDoubleSlashes } from "./canonicalize-path.ts";
import { pathBounds, searchOf } from "../request/request-url.ts";
import { place } from "../order.ts";

/**
 * Passes requests on with each run of slashes in the path as one slash, so that `/users//1` is
 * `/users/1`. A slash at the end stays, as do escapes such as `%2F`. Put it outside everything that
 * looks at the path.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` when it has an argument: it has no options
 */
export function cleanPath(...none: readonly []): Middleware {
  checkNoOptions("cleanPath", none);
  return place("cleanPath", (next) => (request, context) => {
    const { url } = request;
    const { start, end } = pathBounds(url);
    const first = url.indexOf("//", start);
    if (first === -1 || first >= end) return next(request, context);
    const path = cleanDoubleSlashes(url.slice(start, end));
    return next(deriveRequest(request, { url: path + searchOf(url) }), context);
  });
}
