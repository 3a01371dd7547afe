import { changeHeaders, type Context } from "@fetchwork/http";

/** Changes the headers of what a handler gave on their way out; at once, unless it is a promise. */
export function changeResult(
  result: Response | Promise<Response>,
  context: Context,
  change: (headers: Headers) => void,
): Response | Promise<Response> {
  return result instanceof Promise
    ? result.then((response) => changeHeaders(response, context, change))
    : changeHeaders(result, context, change);
}
