import type { Handler, Middleware } from "@fetchwork/http";
import { checkFunction, optionError } from "../check-options.ts";
import type { RequestCondition } from "../compose/maybe.ts";
import { refuse } from "../response/plain-response.ts";
import { place } from "../order.ts";

/**
 * Responds with a status and a message, as plain text and without calling the handler, when the
 * condition is true. A condition that throws fails the request, so nothing is let through by
 * mistake.
 *
 * @param status - 200 to 599, one that allows a body.
 * @param message - Sent with a line break after it.
 * @example
 * ```ts
 * reject(403, "no robots", (request) => /bot/i.test(request.headers.get("user-agent") ?? ""));
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` when the status allows no body or the condition
 * is not a function
 */
export function reject(status: number, message: string, condition: RequestCondition): Middleware {
  checkFunction(condition, "condition");
  if (!Number.isInteger(status) || status < 200 || status > 599 || [204, 205, 304].includes(status))
    throw optionError("status", status, "a status that allows a body, 200 to 599");
  if (typeof message !== "string") throw optionError("message", message, "text");
  const rejected: Handler = () => refuse(status, message);
  return place("reject", (next) => (request, context) => {
    const isRejected = condition(request, context);
    if (isRejected instanceof Promise) {
      return isRejected.then((refused) => (refused ? rejected : next)(request, context));
    }
    return (isRejected ? rejected : next)(request, context);
  });
}
