import type { IncomingMessage, ServerResponse } from "node:http";
import type { Context, Middleware } from "@fetchwork/http";
import { findExchange } from "./framework-exchange.ts";
import { prepareMiddleware } from "./run-middleware.ts";

/** A middleware of Express 4 and 5, of Connect, and of other frameworks with this shape. */
export type ExpressMiddleware = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/**
 * Makes a middleware of Express from one of ours, for `app.use`, a router or a route.
 *
 * What Express writes reaches the middleware as a `Response`. While a middleware only changes headers, nothing is buffered,
 * no stream is made, and the writes of Express go out as they are. All middlewares of a request share one context.
 *
 * The URL is the whole one, also under a mount path; a changed path must stay below that. A changed path, method, header or
 * body reaches what comes after, and an address that `realIp` found is `request.ip`. What others write into `request.url`
 * between two middlewares of ours is not seen by the second. Express turns errors into responses itself, so `recoverer`
 * sees the response and no error; what a middleware throws goes to `next(error)`. Use what reads bodies before
 * `express.json()`.
 *
 * @example
 * ```ts
 * app.use(toExpress(cors({ allowedOrigins: ["https://app.example.com"] })));
 * app.get("/report", toExpress(compress()), sendReport);
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` when the middleware is not a function
 */
export function toExpress(middleware: Middleware): ExpressMiddleware {
  const run = prepareMiddleware(middleware);
  return (request, response, next) => {
    run(request, response, (error) => {
      if (error !== undefined) {
        next(error);
        return;
      }
      showAddress(request, response);
      next();
    });
  };
}

/** Returns the context of a request of Express; undefined when no middleware of ours has seen it. */
export function expressContext(response: ServerResponse): Context | undefined {
  return findExchange(response)?.context;
}

/** Express computes `ip` in a getter of its prototype. */
function showAddress(request: IncomingMessage, response: ServerResponse): void {
  const context = expressContext(response);
  if (context === undefined || context.ip === context.peer) return;
  Object.defineProperty(request, "ip", {
    configurable: true,
    enumerable: true,
    value: context.ip,
  });
}
