import { empty, isWhole, type Context, type Middleware } from "@fetchwork/http";
import {
  checkAmount,
  checkFunction,
  checkOptions,
  longestTimer,
  optionError,
  type OptionNames,
} from "../check-options.ts";
import { Deadline } from "./deadline.ts";
import { DeadlineContext } from "./deadline-context.ts";
import type { HandlerTimeoutError } from "../errors.ts";
import { readUpTo } from "../body/stream-start.ts";
import { isBodyUsed, replaceBody, takeResponse, type TakenResponse } from "../body/replace-body.ts";
import { place } from "../order.ts";

/** Options of {@link timeout}. */
export interface TimeoutOptions {
  /**
   * What must be done at the deadline:
   *
   * - `"buffer"`: head and body. The body is held back until it is whole, so that a late one is a 504 too.
   * - `"stream"`: head and body, but the body goes out as it comes; at the deadline it is broken off.
   * - `"head"`: only the head; the body has all the time it wants. For event streams.
   *
   * Default: `"buffer"`.
   */
  readonly mode?: "buffer" | "stream" | "head" | undefined;
  /**
   * Maximum bytes of a streamed body that are held back. A longer one continues as in `"stream"`. Default:
   * `1_048_576`.
   */
  readonly bufferLimit?: number | undefined;
  /** Makes the response, or throws, which a client may prefer. Default: 504 without a body. */
  readonly respond?: ((error: HandlerTimeoutError, request: Request) => Response) | undefined;
}

/**
 * Responds with 504 when the handler is not done at the deadline, whether or not it listens to its signal.
 *
 * The handler's `context.signal` then aborts with a {@link HandlerTimeoutError}; `request.signal` stays the client's.
 * What the handler still writes fails with the same error, a response that comes too late is cancelled, and what it
 * throws too late is reported. When the client has left before, no 504 is sent.
 *
 * Around a `fetch` it works the same: the request is aborted and the caller gets a 504, or what `respond` throws.
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
  checkOptions(options, knownOptions);
  const { mode = "buffer", bufferLimit = 1_048_576, respond = gatewayTimeout } = options;
  if (typeof milliseconds !== "number" || !(milliseconds <= longestTimer))
    throw optionError("milliseconds", milliseconds, `at most ${longestTimer}`);
  if (mode !== "buffer" && mode !== "stream" && mode !== "head")
    throw optionError("mode", mode, '"buffer", "stream" or "head"');
  checkAmount(bufferLimit, "bufferLimit", 0);
  checkFunction(respond, "respond");
  if (milliseconds <= 0) return (next) => next;
  return place("timeout", (next) => (request, context) => {
    const inner = new DeadlineContext(context);
    const timed = new TimedExchange({
      deadline: new Deadline(milliseconds),
      inner,
      outer: context,
      mode,
      bufferLimit,
      respond: (error) => respond(error, request),
    });
    const result = next(request, inner);
    return result instanceof Promise ? timed.race(result) : timed.settle(result);
  });
}

function gatewayTimeout(): Response {
  return empty(504);
}

interface TimedOptions {
  readonly deadline: Deadline;
  readonly inner: DeadlineContext;
  readonly outer: Context;
  readonly mode: "buffer" | "stream" | "head";
  readonly bufferLimit: number;
  readonly respond: (error: HandlerTimeoutError) => Response;
}

/** One exchange and its deadline. */
class TimedExchange {
  readonly #options: TimedOptions;

  constructor(options: TimedOptions) {
    this.#options = options;
  }

  /** Waits for the handler until the deadline. */
  race(result: Promise<Response>): Promise<Response> {
    const { deadline, inner, outer } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    let late: { readonly reason: unknown } | undefined;
    deadline.watch((error) => {
      late = { reason: this.#expire(error, resolve, reject) };
    });
    result.then(
      (response) => {
        if (late === undefined) resolve(this.settle(response));
        else if (!isBodyUsed(response)) {
          takeStream(response)
            ?.cancel(late.reason)
            .catch(() => undefined);
        }
      },
      (error: unknown) => {
        if (late === undefined) {
          this.#finish();
          reject(error);
        } else if (error !== late.reason && error !== inner.signal.reason) {
          // Nothing awaits it any more, so it is reported.
          outer.waitUntil(result);
        }
      },
    );
    return promise;
  }

  /** Sees to the body. The response becomes a new one, because inside it belongs to another context. */
  settle(response: Response): Response | Promise<Response> {
    const { deadline, inner, outer, mode } = this.#options;
    // A whole body has no end to wait for. Outer middlewares that change it copy it.
    if (response.status === 101 || isWhole(response) || isBodyUsed(response)) {
      this.#finish();
      return response;
    }
    const taken = takeResponse(response);
    const { body } = taken;
    if (!(body instanceof ReadableStream) || body.locked) {
      this.#finish();
      return replaceBody(taken, body, taken.headers);
    }
    if (mode === "head") {
      deadline.stop();
      outer.onFinish(() => inner.release());
      return replaceBody(taken, body, taken.headers);
    }
    const reader = body.getReader();
    return mode === "buffer" ? this.#buffer(taken, reader) : this.#stream(taken, undefined, reader);
  }

  #buffer(
    taken: TakenResponse,
    reader: ReadableStreamDefaultReader<Uint8Array>,
  ): Promise<Response> {
    const { deadline, outer, bufferLimit } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    let isOver = false;
    const { signal } = outer;
    const giveUp = (reason: unknown): void => {
      isOver = true;
      signal.removeEventListener("abort", onAbort);
      reader.cancel(reason).catch(() => undefined);
    };
    const onAbort = (): void => {
      this.#finish();
      reject(signal.reason);
      giveUp(signal.reason);
    };
    if (signal.aborted) {
      onAbort();
      return promise;
    }
    signal.addEventListener("abort", onAbort, { once: true });
    deadline.watch((error) => giveUp(this.#expire(error, resolve, reject)));
    readUpTo(reader, bufferLimit).then(
      ({ bytes, isWhole }) => {
        if (isOver) return;
        signal.removeEventListener("abort", onAbort);
        if (isWhole) {
          this.#finish();
          resolve(replaceBody(taken, bytes, taken.headers));
        } else {
          resolve(this.#stream(taken, bytes, reader));
        }
      },
      (error: unknown) => {
        if (isOver) return;
        signal.removeEventListener("abort", onAbort);
        this.#finish();
        reject(error);
      },
    );
    return promise;
  }

  /** Passes a body on as it is asked for, until the deadline. */
  #stream(
    taken: TakenResponse,
    before: Uint8Array | undefined,
    reader: ReadableStreamDefaultReader<Uint8Array>,
  ): Response {
    const { deadline, inner } = this.#options;
    let isOver = false;
    let pending = before;
    const stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          deadline.watch((error) => {
            isOver = true;
            controller.error(error);
            reader.cancel(error).catch(() => undefined);
            inner.expire(error);
          });
        },
        pull: async (controller) => {
          const chunk = pending;
          if (chunk !== undefined) {
            pending = undefined;
            controller.enqueue(chunk);
            return;
          }
          try {
            const { done, value } = await reader.read();
            if (isOver) return;
            if (!done) {
              controller.enqueue(value);
              return;
            }
            this.#finish();
            controller.close();
          } catch (error) {
            this.#finish();
            if (!isOver) throw error;
          }
        },
        cancel: (reason) => {
          isOver = true;
          this.#finish();
          return reader.cancel(reason);
        },
      },
      { highWaterMark: 0 },
    );
    return replaceBody(taken, stream, taken.headers);
  }

  /** Responds; returns the error that late writes fail with. */
  #expire(
    error: HandlerTimeoutError,
    resolve: (response: Response) => void,
    reject: (reason: unknown) => void,
  ): unknown {
    const { inner, outer, respond } = this.#options;
    const { signal } = outer;
    const reason: unknown = signal.aborted ? signal.reason : error;
    if (signal.aborted) {
      reject(reason);
    } else {
      try {
        resolve(respond(error));
      } catch (failure) {
        reject(failure);
      }
    }
    // After the response: a handler that listens fails now.
    inner.expire(reason);
    return reason;
  }

  #finish(): void {
    this.#options.deadline.stop();
    this.#options.inner.release();
  }
}

function takeStream(response: Response): ReadableStream<Uint8Array> | undefined {
  const { body } = takeResponse(response);
  return body instanceof ReadableStream && !body.locked ? body : undefined;
}

const knownOptions: OptionNames<TimeoutOptions> = {
  owner: "timeout",
  names: {
    mode: true,
    bufferLimit: true,
    respond: true,
  },
  otherNames: {
    answer: "respond",
    onTimeout: "respond",
    handler: "respond",
    response: "respond",
    message: "respond",
    limit: "bufferLimit",
  },
};
