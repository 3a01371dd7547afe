import { deriveRequest, empty, type Context, type Middleware } from "@fetchwork/http";
import { checkFunction, checkOptions, longestTimer, optionError } from "../check-options.ts";
import type { HandlerTimeoutError } from "../errors.ts";
import { Deadline } from "./deadline.ts";
import { TimedExchange } from "./timed-exchange.ts";
import { place, warn } from "../order.ts";

/** Options of {@link timeout}. */
export interface TimeoutOptions {
  /**
   * Work at the deadline:
   *
   * - `"buffer"`: head and body. The body is held back until it is whole, so that a late one is a
   *   504 too. One of more than 1 MiB continues as in `"stream"`. Events of a `text/event-stream`
   *   then arrive all at once; outside of production the first such response is warned of.
   * - `"stream"`: head and body, but the body goes out as it comes; at the deadline it is broken
   *   off.
   * - `"head"`: only the head; the body has all the time it wants. For event streams.
   *
   * Default: `"buffer"`.
   */
  readonly mode?: "buffer" | "stream" | "head" | undefined;
  /** Makes the response, or throws, which a client may prefer. Default: 504 without a body. */
  readonly respond?: ((error: HandlerTimeoutError, request: Request) => Response) | undefined;
}

/**
 * Responds with 504 when the handler is not done at the deadline, whether or not it listens to its
 * signal.
 *
 * The handler's `context.signal` then aborts with a {@link HandlerTimeoutError}, and so does its
 * `request.signal` under `serve` and `toNodeListener`. A request of the platform keeps the client's
 * signal, because to change it would mean to build another one: on Deno, Bun and Workers use
 * `context.signal`. Later writes of the handler fail with the same error. A response that comes too
 * late is cancelled, and a late error is reported. When the client has left before, no 504 is sent.
 *
 * Around a `fetch` it works the same: the request is aborted and the caller gets a 504, or what
 * `respond` throws.
 *
 * @param milliseconds - 0 and less switch it off.
 * @example
 * ```ts
 * wrap(handler, timeout(5_000));
 * const api = wrap(fetch, retry(), timeout(2_000, { respond: (error) => { throw error; } }));
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function timeout(milliseconds: number, options: TimeoutOptions = {}): Middleware {
  checkOptions("timeout", options, ["mode", "respond"]);
  const { mode = "buffer", respond = gatewayTimeout } = options;
  if (typeof milliseconds !== "number" || !(milliseconds <= longestTimer))
    throw optionError("milliseconds", milliseconds, `at most ${longestTimer}`);
  if (mode !== "buffer" && mode !== "stream" && mode !== "head")
    throw optionError("mode", mode, '"buffer", "stream" or "head"');
  checkFunction(respond, "respond");
  if (milliseconds <= 0) return (next) => next;
  let isWarned = false;
  const onEventStream = (): void => {
    isWarned ||= warn(
      'timeout holds a text/event-stream back until it is whole: use the mode "head" (docs/middlewares.md)',
    );
  };
  return place("timeout", (next) => (request, context) => {
    const exchange = new TimedExchange(new Deadline(milliseconds), context, {
      mode,
      respond: (error) => respond(error, request),
      onEventStream,
    });
    const result = next(withSignalOf(exchange.context, request), exchange.context);
    return result instanceof Promise ? exchange.race(result) : exchange.settle(result);
  });
}

/** A request of our server with a context's signal; `fetch` takes platform ones only. */
function withSignalOf(context: Context, request: Request): Request {
  if (!("_request" in request)) return request;
  return deriveRequest(request, {
    get signal() {
      return context.signal;
    },
  });
}

function gatewayTimeout(): Response {
  return empty(504);
}
