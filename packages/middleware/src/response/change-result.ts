import type { Context } from "@fetchwork/http";
import { changeHeaders } from "@fetchwork/http/responses";

/** Changes the headers of a handler's response: at once, or when its promise resolves. */
export function changeResult(
  result: Response | Promise<Response>,
  context: Context,
  change: (headers: Headers) => void,
): Response | Promise<Response> {
  return result instanceof Promise
    ? result.then((response) => changeHeaders(response, context, change))
    : changeHeaders(result, context, change);
}
