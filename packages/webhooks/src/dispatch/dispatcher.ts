import type { Logger, Semaphore } from "@fetchwork/kit";
import { WebhookError, WebhookHandlerError, WebhookReceiveError } from "../errors.ts";
import type { UnknownPayload, UntypedEvent } from "../event-map.ts";
import { isThenable, withTimeout } from "../maybe-promise.ts";
import type { HandlerContext } from "./event-handler-options.ts";
import { ErrorListeners } from "./error-listeners.ts";
import { HandlerRegistry, type Registration } from "./handler-registry.ts";

/** Options of a {@link Dispatcher}, checked. */
interface DispatcherOptions {
  readonly log: Logger;
  readonly actionOf: ((payload: UnknownPayload) => string | undefined) | undefined;
  readonly transform: ((event: UntypedEvent) => unknown) | undefined;
  /** Milliseconds, or `Infinity`. */
  readonly handlerTimeout: number;
  /** Limits the handlers that run at once; `undefined` for no limit. */
  readonly semaphore: Semaphore | undefined;
}

/** The error of each handler that failed, at the index of the handler. */
type Failures = (WebhookHandlerError | undefined)[];

/** Calls the handlers of an event: finds them by name, transforms the event, runs them in parallel, reports failures. */
export class Dispatcher {
  readonly handlers: HandlerRegistry = new HandlerRegistry();
  readonly errors: ErrorListeners;
  readonly log: Logger;
  readonly #options: DispatcherOptions;
  readonly #actionOf: (payload: UnknownPayload) => string | undefined;
  /** Handlers of reserved events that have not started. */
  #reserved = 0;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#actionOf = options.actionOf ?? defaultActionOf;
    this.log = options.log;
    this.errors = new ErrorListeners(options.log);
  }

  /**
   * Starts all handlers of an event. Returns a promise only when one of them did; throws or rejects with a
   * {@link WebhookReceiveError} after all have settled.
   */
  dispatch(event: UntypedEvent): Promise<void> | undefined {
    const handlers = this.#handlersOf(event);
    if (handlers.length === 0) return undefined;
    this.#checkRoom(handlers.length, event);
    const failures: Failures = [];
    const pending: Promise<unknown>[] = [];
    // Not `for…of` over `entries()`: with several handlers it takes half as long again.
    handlers.forEach((handler, index) => {
      try {
        const running = this.#start(handler, event);
        if (running === undefined) return;
        pending.push(
          running.then(undefined, (error: unknown) => {
            failures[index] = this.#toHandlerError(error, event);
          }),
        );
      } catch (error) {
        failures[index] = this.#toHandlerError(error, event);
      }
    });
    if (pending.length > 0) return Promise.all(pending).then(() => throwAny(failures, event));
    throwAny(failures, event);
    return undefined;
  }

  /**
   * Reserves room for the handlers of an event that is dispatched later. Call the returned function just before that.
   *
   * @throws WebhookError `ERR_WEBHOOKS_OVERLOAD`
   */
  reserve(event: UntypedEvent): () => void {
    const { length } = this.#handlersOf(event);
    this.#checkRoom(length, event);
    this.#reserved += length;
    return () => {
      this.#reserved -= length;
    };
  }

  #handlersOf({ name, payload }: UntypedEvent): readonly Registration[] {
    return this.handlers.find(name, this.#actionOf(payload));
  }

  #checkRoom(amount: number, event: UntypedEvent): void {
    const { semaphore } = this.#options;
    if (semaphore === undefined || amount + this.#reserved <= semaphore.room) return;
    throw this.errors.report(
      new WebhookError("ERR_WEBHOOKS_OVERLOAD", "too many webhook handlers are waiting", {
        status: 503,
        event,
      }),
    );
  }

  /** Calls one handler, or queues it. Throws or rejects with what the transform or the handler throws. */
  #start(registration: Registration, event: UntypedEvent): Promise<unknown> | undefined {
    const { semaphore } = this.#options;
    if (semaphore === undefined) return this.#call(registration, event);
    if (!semaphore.tryAcquire()) {
      const turn = semaphore.acquire();
      return turn.then(() => this.#call(registration, event)).finally(() => semaphore.release());
    }
    let running: Promise<unknown> | undefined;
    try {
      running = this.#call(registration, event);
    } catch (error) {
      semaphore.release();
      throw error;
    }
    if (running === undefined) semaphore.release();
    return running?.finally(() => semaphore.release());
  }

  #call(
    { handler, isTransformed }: Registration,
    event: UntypedEvent,
  ): Promise<unknown> | undefined {
    const { transform, handlerTimeout } = this.#options;
    const context = new LazyContext();
    let result: unknown;
    if (transform !== undefined && isTransformed) {
      const transformed = transform(event);
      // The types of `on` declare handlers to take what `transform` returns.
      result = isThenable(transformed)
        ? transformed.then((value) => handler(value as UntypedEvent, context))
        : handler(transformed as UntypedEvent, context);
    } else {
      result = handler(event, context);
    }
    if (!isThenable(result)) return undefined;
    const running = result;
    return withTimeout(running, handlerTimeout, () => {
      running.then(undefined, (error: unknown) => {
        this.log.error("a webhook handler failed after its timeout", error);
      });
      const message = `a handler took longer than ${handlerTimeout} ms`;
      const error = new WebhookError("ERR_WEBHOOKS_TIMEOUT", message);
      context.abort(error);
      throw error;
    });
  }

  #toHandlerError(cause: unknown, event: UntypedEvent): WebhookHandlerError {
    return this.errors.report(
      new WebhookHandlerError("ERR_WEBHOOKS_HANDLER", messageOf(cause), {
        cause,
        event,
        errors: [cause],
      }),
    );
  }
}

/** Makes its signal on first use, because few handlers use one. */
class LazyContext implements HandlerContext {
  #controller: AbortController | undefined;

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#controller ??= new AbortController();
    this.#controller.abort(reason);
  }
}

function throwAny(failures: Failures, event: UntypedEvent): void {
  if (failures.length === 0) return;
  const errors = failures.filter((failure) => failure !== undefined);
  const message = errors.map((error) => error.message).join("\n");
  throw new WebhookReceiveError("ERR_WEBHOOKS_RECEIVE", message, {
    errors,
    event,
    cause: errors[0],
  });
}

function defaultActionOf(payload: UnknownPayload): string | undefined {
  const action = Object.hasOwn(payload, "action") ? payload["action"] : undefined;
  return typeof action === "string" && action !== "" ? action : undefined;
}

/** Reads the message of a thrown value, which may throw itself when it is read. */
function messageOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? thrown.message : "";
  } catch {
    return "";
  }
}
