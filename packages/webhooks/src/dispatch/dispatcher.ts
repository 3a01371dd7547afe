import type { Logger } from "@fetchwork/kit";
import { WebhookError, WebhookHandlerError, WebhookReceiveError } from "../errors.ts";
import type { UnknownPayload, UntypedEvent } from "../event-map.ts";
import { withTimeout } from "../time-limit.ts";
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
}

/** Calls an event's handlers by name: transforms, runs in parallel, reports failures. */
export class Dispatcher {
  readonly handlers: HandlerRegistry = new HandlerRegistry();
  readonly errors: ErrorListeners;
  readonly log: Logger;
  readonly #options: DispatcherOptions;
  readonly #actionOf: (payload: UnknownPayload) => string | undefined;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#actionOf = options.actionOf ?? defaultActionOf;
    this.log = options.log;
    this.errors = new ErrorListeners(options.log);
  }

  /**
   * Runs all handlers of an event in parallel. Rejects with a {@link WebhookReceiveError} after all
   * have settled, when one of them failed.
   *
   * @param context - What the handlers are called with, without `handlerTimeout`. Default: one for
   * each of them.
   */
  async dispatch(event: UntypedEvent, context?: HandlerContext): Promise<void> {
    const handlers = this.handlers.find(event.name, this.#actionOf(event.payload));
    if (handlers.length === 0) return;
    const outcomes = await Promise.all(
      handlers.map((handler) => this.#run(handler, event, context)),
    );
    const errors = outcomes.filter((outcome) => outcome !== undefined);
    if (errors.length === 0) return;
    const message = errors.map((error) => error.message).join("\n");
    throw new WebhookReceiveError("ERR_WEBHOOKS_RECEIVE", message, {
      errors,
      event,
      cause: errors[0],
    });
  }

  /** Runs one handler. Resolves to its error if it failed, which was reported. */
  async #run(
    registration: Registration,
    event: UntypedEvent,
    context: HandlerContext | undefined,
  ): Promise<WebhookHandlerError | undefined> {
    try {
      if (context === undefined) await this.#callInTime(registration, event);
      else await this.#call(registration, event, context);
      return undefined;
    } catch (cause) {
      return this.errors.report(
        new WebhookHandlerError("ERR_WEBHOOKS_HANDLER", messageOf(cause), {
          cause,
          event,
          errors: [cause],
        }),
      );
    }
  }

  #callInTime(registration: Registration, event: UntypedEvent): Promise<unknown> {
    const { handlerTimeout } = this.#options;
    const context = new LazyContext();
    const running = this.#call(registration, event, context);
    return withTimeout(running, handlerTimeout, () => {
      running.catch((error: unknown) => {
        this.log.error("a webhook handler failed after its timeout", error);
      });
      const message = `a handler took longer than ${handlerTimeout} ms`;
      const error = new WebhookError("ERR_WEBHOOKS_TIMEOUT", message);
      context.abort(error);
      throw error;
    });
  }

  // Asynchronous, so that all handlers begin before the failure of one is reported.
  async #call(
    { handler, isTransformed }: Registration,
    event: UntypedEvent,
    context: HandlerContext,
  ): Promise<unknown> {
    const { transform } = this.#options;
    if (transform === undefined || !isTransformed) return handler(event, context);
    // The types of `on` declare handlers to take what `transform` returns.
    return handler((await transform(event)) as UntypedEvent, context);
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
