import {
  createContext,
  createContextKey,
  finishContext,
  type Context,
  type Middleware,
} from "@fetchwork/http";
import { checkFunction, checkOptions } from "../check-options.ts";
import { finishWithBody } from "./finish-with-body.ts";
import { isContext } from "./is-context.ts";

/** The part of Hono's context that is used. */
interface HonoContext {
  readonly env: unknown;
  readonly req: { raw: Request };
  get res(): Response;
  set res(response: Response | undefined);
}

/** A middleware of Hono. */
export type HonoMiddleware = (
  context: HonoContext,
  next: () => Promise<void>,
) => Promise<Response | undefined>;

/** Options of {@link toHono}. */
export interface ToHonoOptions {
  /** Finds the address of the connection, on a server that is not ours. Default: none. */
  readonly peer?: ((context: HonoContext) => string | undefined) | undefined;
}

interface HonoExchange {
  readonly context: HonoContext;
  readonly next: () => Promise<void>;
}

// The contexts that we made, for the other middlewares of the same exchange.
const contexts = new WeakMap<HonoContext, Context>();

/**
 * Makes a middleware of Hono of one of ours, for `app.use`.
 *
 * Under `serve(app.fetch)` it shares the exchange's context, which Hono knows as `c.env`; elsewhere
 * the outermost one makes it and the others use it. Hono has routed before, so a changed path has
 * no effect, and it responds to errors itself, so that `recoverer` sees none. To wrap a whole
 * application, `wrap(app.fetch, …)` does without this.
 *
 * @example
 * ```ts
 * app.use(toHono(compress()));
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` when an argument is not a function
 */
export function toHono(middleware: Middleware, options: ToHonoOptions = {}): HonoMiddleware {
  checkOptions("toHono", options, ["peer"]);
  const { peer = () => undefined } = options;
  checkFunction(middleware, "middleware");
  checkFunction(peer, "peer");
  const key = createContextKey<HonoExchange>("hono");
  const handler = middleware(async (request, context) => {
    const exchange = context.get(key);
    if (exchange === undefined) throw new Error("toHono needs the context that it made");
    // Hono's way to hand a changed request on.
    if (request !== exchange.context.req.raw) exchange.context.req.raw = request;
    await exchange.next();
    return exchange.context.res;
  });
  return async (c, next) => {
    const request = c.req.raw;
    const found = isContext(c.env) ? c.env : contexts.get(c);
    const isShared = found !== undefined;
    let isWatched = false;
    const watch = (): void => {
      isWatched = true;
    };
    const context = found ?? createContext(request, { peer: peer(c), watch });
    if (!isShared) contexts.set(c, context);
    context.set(key, { context: c, next });
    let response: Response;
    try {
      response = await handler(request, context);
    } catch (error) {
      if (!isShared) finishContext(context, { status: 500, bytes: 0, error });
      throw error;
    }
    const final = isShared ? response : finishWithBody(response, context, isWatched);
    // Otherwise Hono would put the headers of the one before into the new one.
    c.res = undefined;
    c.res = final;
    return final;
  };
}
