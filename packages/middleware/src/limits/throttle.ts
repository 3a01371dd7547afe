import type { Context, Middleware } from "@fetchwork/http";
import { empty } from "@fetchwork/http/responses";
import { Semaphore } from "@fetchwork/kit";
import { checkAmount, checkOptions, longestTimer, optionError } from "../check-options.ts";

/** Options of {@link throttle}. */
export interface ThrottleOptions {
  /** How many requests may wait for a place, first come, first served. Default: 0. */
  readonly backlog?: number | undefined;
  /** Maximum time in milliseconds that a request waits. Default: `60_000`. */
  readonly timeout?: number | undefined;
  /** Status of those that get no place. Default: 503. */
  readonly status?: number | undefined;
  /** Seconds in `Retry-After` of a refusal. Default: the header is not sent. */
  readonly retryAfter?: number | undefined;
}

/**
 * Lets a number of requests run at once and refuses the others with 503 and no body.
 *
 * The places belong to the value that this returns: all handlers that it wraps share them. A
 * request releases its place when its handler is done and its response has been sent, broken off or
 * failed; a client that goes away does not free the place of a handler that still works.
 *
 * @param limit - Requests at once, at least 1; `Infinity` for no limit.
 * @example
 * ```ts
 * throttle(100, { backlog: 200, timeout: 5_000, retryAfter: 2 });
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function throttle(limit: number, options: ThrottleOptions = {}): Middleware {
  checkOptions("throttle", options, ["backlog", "timeout", "status", "retryAfter"]);
  const { backlog = 0, timeout = 60_000, status = 503, retryAfter } = options;
  checkAmount(limit, "limit", 1);
  checkAmount(backlog, "backlog", 0);
  if (!Number.isInteger(timeout) || timeout < 0 || timeout > longestTimer) {
    throw optionError("timeout", timeout, `milliseconds from 0 to ${longestTimer}`);
  }
  if (!Number.isInteger(status) || status < 400 || status > 599) {
    throw optionError("status", status, "a status from 400 to 599");
  }
  if (retryAfter !== undefined && (!Number.isSafeInteger(retryAfter) || retryAfter < 0)) {
    throw optionError("retryAfter", retryAfter, "a whole number of seconds");
  }
  if (limit === Infinity) return (next) => next;

  const refusal = empty(status, {
    headers: retryAfter === undefined ? {} : { "retry-after": String(retryAfter) },
  });
  const places = new Semaphore(limit, { maxWaiting: backlog });
  return (next) => {
    const run = (request: Request, context: Context): Response | Promise<Response> => {
      const release = releaseAtEnd(places, context);
      let result: Response | Promise<Response>;
      try {
        result = next(request, context);
      } catch (error) {
        release();
        throw error;
      }
      if (result instanceof Promise) result.then(release, release);
      else release();
      return result;
    };
    return (request, context) => {
      if (places.tryAcquire()) return run(request, context);
      if (timeout === 0 || places.waiting >= backlog) return refusal;
      return waitForPlace(places, context, timeout).then((hasPlace) =>
        hasPlace ? run(request, context) : refusal,
      );
    };
  };
}

/** Resolves to whether the request got a place before the timeout and before its client left. */
function waitForPlace(places: Semaphore, context: Context, timeout: number): Promise<boolean> {
  const waiting = new AbortController();
  const stop = (): void => waiting.abort();
  const timer = setTimeout(stop, timeout);
  context.onFinish(stop);
  return places
    .acquire(waiting.signal)
    .then(
      () => true,
      () => false,
    )
    .finally(() => clearTimeout(timer));
}

/** Releases a place when the exchange has ended and the returned function was called. */
function releaseAtEnd(places: Semaphore, context: Context): () => void {
  let isHalfDone = false;
  const release = (): void => {
    if (isHalfDone) places.release();
    isHalfDone = true;
  };
  context.onFinish(release);
  return release;
}
