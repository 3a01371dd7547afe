import type { Logger } from "@fetchwork/kit";
import {
  type WebhookError,
  WebhookHandlerError,
  WebhookReceiveError,
  WebhookUsageError,
} from "../errors.ts";
import type { UnknownPayload, UntypedEvent } from "../event-map.ts";

/** A handler of events, or a listener of failures, with unknown parameters. */
type UntypedHandler = (...parameters: never[]) => unknown;

/** A handler, and whether it is called with the transformed event. */
interface Registration {
  readonly handler: (given: UntypedEvent | WebhookError, context?: object) => unknown;
  readonly isTransformed: boolean;
}

/** Stands for any event, in the place of a name. */
export const anyEvent: unique symbol = Symbol("any event");
/** Stands for failures, in the place of a name. */
export const failures: unique symbol = Symbol("failures");

/** Options of a {@link Dispatcher}, checked. */
interface DispatcherOptions {
  readonly log: Logger;
  readonly actionOf: ((payload: UnknownPayload) => string | undefined) | undefined;
  readonly transform: ((event: UntypedEvent) => unknown) | undefined;
}

const none: readonly Registration[] = [];

/** Calls an event's handlers by name: transforms, runs in parallel, reports failures. */
export class Dispatcher {
  readonly log: Logger;
  readonly #options: DispatcherOptions;
  readonly #actionOf: (payload: UnknownPayload) => string | undefined;
  readonly #handlers = new Map<string | symbol, readonly Registration[]>();

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#actionOf = options.actionOf ?? defaultActionOf;
    this.log = options.log;
  }

  /** @throws WebhookUsageError `ERR_WEBHOOKS_ARGUMENT` */
  add(name: string | symbol, handler: UntypedHandler): void {
    if (typeof handler !== "function") {
      const problem = `handler must be a function, got ${typeof handler}`;
      throw new WebhookUsageError("ERR_WEBHOOKS_ARGUMENT", problem);
    }
    // The types of `on` ensure that a handler takes the events of the names that it is registered
    // for.
    const added = handler as Registration["handler"];
    const isTransformed = typeof name === "string";
    this.#handlers.set(name, [...this.#registered(name), { handler: added, isTransformed }]);
  }

  /** Removes the most recent registration of a handler; does nothing when there is none. */
  remove(name: string | symbol, handler: UntypedHandler): void {
    const list = this.#registered(name);
    const index = list.findLastIndex((registration) => registration.handler === handler);
    if (index < 0) return;
    if (list.length === 1) this.#handlers.delete(name);
    else this.#handlers.set(name, list.toSpliced(index, 1));
  }

  /** Whether there are listeners of failures. */
  get hasErrorListeners(): boolean {
    return this.#handlers.has(failures);
  }

  /** Calls all listeners of failures with an error, and returns the error. */
  report<Failure extends WebhookError>(failure: Failure): Failure {
    for (const listener of this.#registered(failures)) void this.#callListener(listener, failure);
    return failure;
  }

  /**
   * Runs all handlers of an event in parallel: those of its action, of its name, of any event.
   * Rejects with a {@link WebhookReceiveError} after all have settled, when one of them failed.
   *
   * @param context - Second argument of the handlers. Default: none.
   */
  async dispatch(event: UntypedEvent, context?: object): Promise<void> {
    const { name, payload } = event;
    const action = this.#actionOf(payload);
    const ofAction = action === undefined ? none : this.#registered(`${name}.${action}`);
    const handlers = [...ofAction, ...this.#registered(name), ...this.#registered(anyEvent)];
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

  #registered(name: string | symbol): readonly Registration[] {
    return this.#handlers.get(name) ?? none;
  }

  async #callListener({ handler }: Registration, failure: WebhookError): Promise<void> {
    try {
      await handler(failure);
    } catch (error) {
      this.log.error('an "error" event handler of webhooks failed', error);
    }
  }

  /** Runs one handler. Resolves to its error if it failed, which was reported. */
  async #run(
    registration: Registration,
    event: UntypedEvent,
    context: object | undefined,
  ): Promise<WebhookHandlerError | undefined> {
    try {
      await this.#call(registration, event, context);
      return undefined;
    } catch (cause) {
      return this.report(
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
    context: object | undefined,
  ): Promise<unknown> {
    const { transform } = this.#options;
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
