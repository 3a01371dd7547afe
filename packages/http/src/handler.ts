import type { Context } from "./context.ts";

/**
 * Responds to a request.
 *
 * The handler of a server and a `fetch` share this shape, so one middleware can wrap both. A plain
 * `(request) => Response` is a `Handler` too.
 */
export type Handler = (request: Request, context: Context) => Response | Promise<Response>;

/** Wraps a handler in another one, which acts before it, after it, or in its place. */
export type Middleware = (next: Handler) => Handler;
