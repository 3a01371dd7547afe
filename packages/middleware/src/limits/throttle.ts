import { empty, type Context, type Middleware } from "@fetchwork/http";
import {
  checkAmount,
  checkOptions,
  longestTimer,
  optionError,
  type OptionNames,
} from "../check-options.ts";

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
 * The places belong to the value that this returns: all handlers that it wraps share them. A request gives its place
 * back when its handler is done and its response has been sent, broken off or failed; a client that goes away does not
 * free the place of a handler that still works.
 *
 * @param limit - Requests at once, at least 1; `Infinity` for no limit.
 * @example
 * ```ts
 * throttle(100, { backlog: 200, timeout: 5_000, retryAfter: 2 });
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function throttle(limit: number, options: ThrottleOptions = {}): Middleware {
  checkOptions(options, knownOptions);
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
  const places = new Places(limit, backlog);
  return (next) => {
    const run = (request: Request, context: Context): Response | Promise<Response> => {
      const release = places.hold(context);
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
      if (places.take()) return run(request, context);
      const turn = places.wait(context, timeout);
      if (turn === undefined) return refusal;
      return turn.then((isMine) => (isMine ? run(request, context) : refusal));
    };
  };
}

/** A counting semaphore with a bounded queue. */
class Places {
  readonly #backlog: number;
  // A set keeps the order and forgets one in the middle at no cost.
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(limit: number, backlog: number) {
    this.#free = limit;
    this.#backlog = backlog;
  }

  take(): boolean {
    if (this.#free === 0) return false;
    this.#free -= 1;
    return true;
  }

  /** Resolves to whether it is the request's turn; `undefined` when too many wait. */
  wait(context: Context, timeout: number): Promise<boolean> | undefined {
    if (this.#waiting.size >= this.#backlog || timeout === 0) return undefined;
    return new Promise((resolve) => {
      const leave = (isMine: boolean): void => {
        clearTimeout(timer);
        this.#waiting.delete(enter);
        resolve(isMine);
      };
      const enter = (): void => leave(true);
      const timer = setTimeout(leave, timeout, false);
      this.#waiting.add(enter);
      // A client that has gone needs no place. After the turn this does nothing.
      context.onFinish(() => leave(false));
    });
  }

  /** Keeps a place until the exchange has ended and the function that this returns was called. */
  hold(context: Context): () => void {
    let isHalfDone = false;
    const release = (): void => {
      if (isHalfDone) this.#passOn();
      isHalfDone = true;
    };
    context.onFinish(release);
    return release;
  }

  /** Passes a place to the request that waits longest, or frees it. */
  #passOn(): void {
    for (const enter of this.#waiting) return enter();
    this.#free += 1;
  }
}

const knownOptions: OptionNames<ThrottleOptions> = {
  owner: "throttle",
  names: {
    backlog: true,
    timeout: true,
    status: true,
    retryAfter: true,
  },
  otherNames: {
    queue: "backlog",
    queueLimit: "backlog",
    maxQueue: "backlog",
    backlogLimit: "backlog",
    backlogTimeout: "timeout",
    wait: "timeout",
    statusCode: "status",
  },
};
