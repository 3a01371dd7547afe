import type { Logger } from "@fetchwork/kit";
import { WebhookHandlerError, WebhookReceiveError } from "../errors.ts";
import type { UnknownPayload, UntypedEvent } from "../event-map.ts";
import { ErrorListeners } from "./error-listeners.ts";
import { HandlerRegistry, type Registration } from "./handler-registry.ts";

/** Options of a {@link Dispatcher}, checked. */
interface DispatcherOptions {
  readonly log: Logger;
  readonly actionOf: ((payload: UnknownPayload) => string | undefined) | undefined;
  readonly transform: ((event: UntypedEvent) => unknown) | undefined;
}

/** Calls an event's handlers by name: transforms, runs in parallel, reports failures. */
export class Dispatcher {
  readonly handlers: HandlerRegistry = new HandlerRegistry();
  readonly errors: ErrorListeners;
  readonly log: Logger;
  readonly #transform: DispatcherOptions["transform"];
  readonly #actionOf: (payload: UnknownPayload) => string | undefined;

  constructor({ log, actionOf = defaultActionOf, transform }: DispatcherOptions) {
    this.log = log;
    this.errors = new ErrorListeners(log);
    this.#actionOf = actionOf;
    this.#transform = transform;
  }

  /**
   * Runs all handlers of an event in parallel. Rejects with a {@link WebhookReceiveError} after all
   * have settled, when one of them failed.
   *
   * @param context - The second argument of the handlers. Default: none.
   */
  async dispatch(event: UntypedEvent, context?: unknown): Promise<void> {
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
    context: unknown,
  ): Promise<WebhookHandlerError | undefined> {
    try {
      await this.#call(registration, event, context);
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

  // Asynchronous, so that all handlers begin before the failure of one is reported.
  async #call(
    { handler, isTransformed }: Registration,
    event: UntypedEvent,
    context: unknown,
  ): Promise<unknown> {
    const transform = this.#transform;
    if (transform === undefined || !isTransformed) return handler(event, context);
    // The types of `on` declare handlers to take what `transform` returns.
    return handler((await transform(event)) as UntypedEvent, context);
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
