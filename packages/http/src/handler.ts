import type { Context } from "./context.ts";

/**
 * Answers a request.
 *
 * A server's handler and a `fetch` have this one shape, so what wraps the one wraps the other. A plain
 * `(request) => Response` is a `Handler` too.
 */
export type Handler = (request: Request, context: Context) => Response | Promise<Response>;

/** Makes a handler of another one: adds behaviour before it, after it, or instead of it. */
export type Middleware = (next: Handler) => Handler;
