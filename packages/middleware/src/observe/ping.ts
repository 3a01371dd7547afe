import type { Middleware } from "@fetchwork/http";
import { empty, text } from "@fetchwork/http/responses";
import { checkOptions, optionError } from "../check-options.ts";
import { pathEndsWith } from "../path/canonicalize-path.ts";

/** Options of {@link ping}. */
export interface PingOptions {
  /** End of the paths, with its first slash, in any case. Default: `/ping`. */
  readonly path?: string | undefined;
}

const headers = { "content-type": "text/plain" };

/**
 * Responds to `GET` and `HEAD` of `/ping`, and of every path that ends with it, with 200 and
 * `pong`, without calling the handler.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` when the path does not start with a slash
 */
export function ping(options: PingOptions = {}): Middleware {
  checkOptions("ping", options, ["path"]);
  const { path = "/ping" } = options;
  if (typeof path !== "string" || !/^\/./.test(path)) {
    throw optionError("path", path, "a path that starts with a slash");
  }
  const ending = path.toLowerCase();
  return (next) => (request, context) => {
    const { method } = request;
    if (method !== "GET" && method !== "HEAD") return next(request, context);
    if (!pathEndsWith(request.url, ending)) return next(request, context);
    return method === "HEAD" ? empty(200, { headers }) : text("pong", { headers });
  };
}
