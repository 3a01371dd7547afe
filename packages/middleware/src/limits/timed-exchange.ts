import { type Context } from "@fetchwork/http";
import { isWhole } from "@fetchwork/http/internal";
import { isBodyUsed, replaceBody, takeResponse, type TakenResponse } from "../body/replace-body.ts";
import { readUpTo } from "../body/stream-start.ts";
import type { HandlerTimeoutError } from "../errors.ts";
import { DeadlineContext } from "./deadline-context.ts";
import type { Deadline } from "./deadline.ts";

/** Rules for the deadline; see the options of `timeout`. */
export interface DeadlineRules {
  readonly mode: "buffer" | "stream" | "head";
  readonly respond: (error: HandlerTimeoutError) => Response;
  /** Called for a stream of events that is held back. */
  readonly onEventStream: () => void;
}

/** Maximum bytes of a streamed body that are held back. */
const bufferLimit = 1_048_576;

/** One exchange and its deadline. */
export class TimedExchange {
  /** The context for the handler: its signal also aborts at the deadline. */
  readonly context: DeadlineContext;
  readonly #deadline: Deadline;
  readonly #outer: Context;
  readonly #rules: DeadlineRules;

  constructor(deadline: Deadline, outer: Context, rules: DeadlineRules) {
    this.context = new DeadlineContext(outer);
    this.#deadline = deadline;
    this.#outer = outer;
    this.#rules = rules;
  }

  /** Waits for the handler until the deadline. */
  race(result: Promise<Response>): Promise<Response> {
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    let late: { readonly reason: unknown } | undefined;
    this.#deadline.watch((error) => {
      late = { reason: this.#expire(error, resolve, reject) };
    });
    result.then(
      (response) => {
        if (late === undefined) resolve(this.settle(response));
        else if (response instanceof Response && !isBodyUsed(response)) {
          takeStream(response)
            ?.cancel(late.reason)
            .catch(() => undefined);
        }
      },
      (error: unknown) => {
        if (late === undefined) {
          this.#finish();
          reject(error);
        } else if (error !== late.reason && error !== this.context.signal.reason) {
          // Nothing awaits it any more, so it is reported.
          this.#outer.waitUntil(result);
        }
      },
    );
    return promise;
  }

  /** Applies the deadline to the body. Returns a new response for this context. */
  settle(response: Response): Response | Promise<Response> {
    // Another value passes, for the server to report. A whole body has no end to wait for;
    // middlewares that change it copy it.
    if (
      !(response instanceof Response) ||
      response.status === 101 ||
      isWhole(response) ||
      isBodyUsed(response)
    ) {
      this.#finish();
      return response;
    }
    const taken = takeResponse(response);
    const { body } = taken;
    if (!(body instanceof ReadableStream) || body.locked) {
      this.#finish();
      return replaceBody(taken, body, taken.headers);
    }
    if (this.#rules.mode === "head") {
      this.#deadline.stop();
      this.#outer.onFinish(() => this.context.release());
      return replaceBody(taken, body, taken.headers);
    }
    const reader = body.getReader();
    if (this.#rules.mode === "stream") return this.#stream(taken, undefined, reader);
    if (isEventStream(taken.headers)) this.#rules.onEventStream();
    return this.#buffer(taken, reader);
  }

  #buffer(
    taken: TakenResponse,
    reader: ReadableStreamDefaultReader<Uint8Array>,
  ): Promise<Response> {
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    let isOver = false;
    const { signal } = this.#outer;
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
    this.#deadline.watch((error) => giveUp(this.#expire(error, resolve, reject)));
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

  /** Passes a body on chunk by chunk, until the deadline. */
  #stream(
    taken: TakenResponse,
    before: Uint8Array | undefined,
    reader: ReadableStreamDefaultReader<Uint8Array>,
  ): Response {
    let isOver = false;
    let pending = before;
    const stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#deadline.watch((error) => {
            isOver = true;
            controller.error(error);
            reader.cancel(error).catch(() => undefined);
            this.context.expire(error);
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
    const { signal } = this.#outer;
    const reason: unknown = signal.aborted ? signal.reason : error;
    if (signal.aborted) {
      reject(reason);
    } else {
      try {
        resolve(this.#rules.respond(error));
      } catch (failure) {
        reject(failure);
      }
    }
    // After the response: a handler that listens fails now.
    this.context.expire(reason);
    return reason;
  }

  #finish(): void {
    this.#deadline.stop();
    this.context.release();
  }
}

function takeStream(response: Response): ReadableStream<Uint8Array> | undefined {
  const { body } = takeResponse(response);
  return body instanceof ReadableStream && !body.locked ? body : undefined;
}

function isEventStream(headers: Headers): boolean {
  return headers.get("content-type")?.toLowerCase().startsWith("text/event-stream") === true;
}
