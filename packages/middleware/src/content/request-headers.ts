import { deriveRequest, type Middleware } from "@fetchwork/http";
import { readHeaderFields, type HeaderFields } from "./header-fields.ts";
import { checkCalled } from "../check-options.ts";

/**
 * Sets headers of every request before the handler sees it, instead of what the client sent under
 * these names. A name that is given twice gets both values, joined by a comma. For headers of the
 * response see {@link headers}.
 *
 * @example
 * ```ts
 * wrap(handler, requestHeaders("X-Forwarded-Prefix:/api"));
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` when a field has no colon, or a name or value
 * cannot be sent
 */
export function requestHeaders(...fields: readonly HeaderFields[]): Middleware {
  checkCalled("requestHeaders", fields[0]);
  const values = new Map<string, string>();
  for (const [name, value] of readHeaderFields(fields)) {
    const before = values.get(name);
    values.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  const options = { headers: Object.fromEntries(values) };
  if (values.size === 0) return (next) => next;
  return (next) => (request, context) => next(deriveRequest(request, options), context);
}
