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

/** The part of h3's event that is used. */
interface H3Event {
  readonly req: Request;
  readonly context: object;
  readonly app?: { readonly config: object };
}

/** A middleware of h3 2. */
type H3Middleware<Event extends H3Event> = (event: Event, next: () => unknown) => Promise<Response>;

/** Options of {@link toH3}. */
export interface ToH3Options<Event extends H3Event> {
  /** `toResponse` of h3, which makes responses of what its handlers return and throw. */
  readonly toResponse: (
    value: unknown,
    event: Event,
    config?: object,
  ) => Response | Promise<Response>;
  /** Finds the address of the connection, on a server that is not ours. Default: none. */
  readonly peer?: ((event: Event) => string | undefined) | undefined;
}

interface H3Exchange {
  readonly event: H3Event;
  readonly next: () => unknown;
}

// The contexts that we made, for the other middlewares of the same exchange.
const contexts = new WeakMap<H3Event, Context>();

/**
 * Makes a middleware of h3 2 of one of ours, for `app.use`.
 *
 * Under `serve((request, exchange) => app.request(request, undefined, { exchange }))` it shares the
 * exchange's context, which h3 then knows as `event.context.exchange`; elsewhere the outermost one
 * makes it and the others use it. h3 has read the path before, so a changed one has no effect;
 * changed headers and a changed body reach the handler. h3 responds to errors itself, so that
 * `recoverer` sees none. To wrap a whole application, `wrap((request) => app.fetch(request), …)`
 * does without this.
 *
 * @example
 * ```ts
 * import { toResponse } from "h3";
 * app.use(toH3(compress(), { toResponse }));
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` when an argument is not a function
 */
export function toH3<Event extends H3Event>(
  middleware: Middleware,
  options: ToH3Options<Event>,
): H3Middleware<Event> {
  checkOptions("toH3", options, ["toResponse", "peer"]);
  const { toResponse, peer = () => undefined } = options;
  checkFunction(middleware, "middleware");
  checkFunction(toResponse, "toResponse");
  checkFunction(peer, "peer");
  const key = createContextKey<H3Exchange & { readonly event: Event }>("h3");
  const handler = middleware(async (request, context) => {
    const exchange = context.get(key);
    if (exchange === undefined) throw new Error("toH3 needs the context that it made");
    const { event, next } = exchange;
    // h3 shows it as fixed, to handlers.
    if (request !== event.req) Object.defineProperty(event, "req", { ...shown, value: request });
    // A rejection becomes a response there. The hook `onResponse` comes later, when h3 sees the
    // response.
    const result = (async () => await next())();
    return toResponse(result, event, { ...event.app?.config, onResponse: undefined });
  });
  return async (event, next) => {
    const { req: request } = event;
    const exchange = "exchange" in event.context ? event.context.exchange : undefined;
    const found = isContext(exchange) ? exchange : contexts.get(event);
    let isWatched = false;
    const watch = (): void => {
      isWatched = true;
    };
    const context = found ?? createContext(request, { peer: peer(event), watch });
    if (found === undefined) contexts.set(event, context);
    context.set(key, { event, next });
    try {
      const response = await handler(request, context);
      return found === undefined ? finishWithBody(response, context, isWatched) : response;
    } catch (error) {
      if (found === undefined) finishContext(context, { status: 500, bytes: 0, error });
      throw error;
    }
  };
}

const shown = { configurable: true, enumerable: true, writable: true };
