import type { Middleware } from "@fetchwork/http";
import { addVary, changeResult } from "@fetchwork/http/responses";
import { readHeaderFields, type HeaderFields } from "./header-fields.ts";
import { checkCalled } from "../check-options.ts";
import { place } from "../order.ts";

/**
 * Sets headers of every response, each only where the handler set none. `Vary` is merged, and
 * cookies are added to those of the handler.
 *
 * A name that is given twice is sent twice. For headers of the request see {@link requestHeaders}.
 *
 * @example
 * ```ts
 * wrap(handler, headers("X-Robots-Tag: noindex", { link: '</licence>; rel="license"' }));
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` when a field has no colon, or a name or value
 * cannot be sent
 */
export function headers(...fields: readonly HeaderFields[]): Middleware {
  checkCalled("headers", fields[0]);
  const pairs = readHeaderFields(fields);
  const change = (target: Headers): void => {
    let added: Set<string> | undefined;
    for (const [name, value] of pairs) {
      if (name === "vary") addVary(target, value);
      else if (name === "set-cookie" || added?.has(name) === true) target.append(name, value);
      else if (!target.has(name)) {
        target.set(name, value);
        (added ??= new Set()).add(name);
      }
    }
  };
  return place("headers", (next) => (request, context) => {
    return changeResult(next(request, context), context, change);
  });
}
