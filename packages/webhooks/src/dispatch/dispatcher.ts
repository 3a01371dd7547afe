import { WebhookError, WebhookHandlerError, WebhookReceiveError } from "../errors.ts";
import type { UnknownPayload, UntypedEvent } from "../event-map.ts";
import type { HandlerRegistry, UntypedHandler } from "./handler-registry.ts";
import type { Logger } from "../logger.ts";
import { runHandler, type RunSettings } from "./run-handler.ts";
import { isThenable } from "../thenable.ts";

/** What an {@link EventDispatcher} works with. */
export interface DispatcherSettings {
  readonly registry: HandlerRegistry;
  readonly log: Logger;
  readonly actionOf: ((payload: UnknownPayload) => string | undefined) | undefined;
  readonly run: RunSettings;
}

type Failures = (WebhookHandlerError | undefined)[];

/** Runs the handlers of an event and tells of failures. */
export class EventDispatcher {
  readonly #registry: HandlerRegistry;
  readonly #run: RunSettings;
  readonly #actionOf: (payload: UnknownPayload) => string | undefined;
  readonly log: Logger;
  /** Handlers of admitted events that have not started. */
  #admitted = 0;
  #errorListeners: readonly ((error: WebhookError) => unknown)[] = [];

  constructor({ registry, log, actionOf = defaultActionOf, run }: DispatcherSettings) {
    this.#registry = registry;
    this.#run = run;
    this.#actionOf = actionOf;
    this.log = log;
  }

  /** Whether anybody wants to know of failures. */
  get hasErrorListeners(): boolean {
    return this.#errorListeners.length > 0;
  }

  addErrorListener(listener: (error: WebhookError) => unknown): void {
    this.#errorListeners = [...this.#errorListeners, listener];
  }

  removeErrorListener(listener: UntypedHandler | ((error: WebhookError) => unknown)): void {
    const index = this.#errorListeners.findLastIndex((known) => known === listener);
    if (index >= 0) this.#errorListeners = this.#errorListeners.toSpliced(index, 1);
  }

  /**
   * Starts all handlers of an event. Returns a promise only when one of them did; throws or rejects with a
   * {@link WebhookReceiveError} after all have settled.
   */
  dispatch(event: UntypedEvent): Promise<void> | undefined {
    const list = this.#registry.handlersOf(event.name, this.#actionOf(event.payload));
    const { length } = list;
    if (length === 0) return undefined;
    this.#checkRoom(length, event);
    const failures: Failures = [];
    let pending: Promise<void>[] | undefined;
    for (let index = 0; index < length; index += 1) {
      const registration = list[index];
      if (registration === undefined) continue;
      try {
        const running = runHandler(registration, event, this.#run);
        if (running !== undefined) {
          pending ??= [];
          pending.push(this.#settle(running, event, failures, index));
        }
      } catch (error) {
        failures[index] = this.#toHandlerError(error, event);
      }
    }
    if (pending !== undefined) return Promise.all(pending).then(() => endWith(failures, event));
    endWith(failures, event);
    return undefined;
  }

  /**
   * Keeps room for the handlers of an event that is dispatched later; call what it returns just before. Throws when there
   * is none.
   */
  admit(event: UntypedEvent): () => void {
    const { length } = this.#registry.handlersOf(event.name, this.#actionOf(event.payload));
    this.#checkRoom(length, event);
    this.#admitted += length;
    return () => {
      this.#admitted -= length;
    };
  }

  #checkRoom(amount: number, event: UntypedEvent): void {
    if (this.#run.turns?.hasRoomFor(amount + this.#admitted) !== false) return;
    throw this.fail(
      new WebhookError("ERR_WEBHOOKS_OVERLOAD", "too many webhook handlers wait", {
        status: 503,
        event,
      }),
    );
  }

  /** Tells the error handlers of a failure, and returns it. */
  fail<Failure extends WebhookError>(failure: Failure): Failure {
    for (const listener of this.#errorListeners) {
      try {
        const result = listener(failure);
        if (isThenable(result)) {
          result.then(undefined, (error: unknown) => this.#logErrorOfListener(error));
        }
      } catch (error) {
        this.#logErrorOfListener(error);
      }
    }
    return failure;
  }

  async #settle(
    running: Promise<unknown>,
    event: UntypedEvent,
    failures: Failures,
    index: number,
  ): Promise<void> {
    try {
      await running;
    } catch (error) {
      failures[index] = this.#toHandlerError(error, event);
    }
  }

  #toHandlerError(cause: unknown, event: UntypedEvent): WebhookHandlerError {
    return this.fail(
      new WebhookHandlerError("ERR_WEBHOOKS_HANDLER", messageOf(cause), {
        cause,
        event,
        errors: [cause],
      }),
    );
  }

  #logErrorOfListener(error: unknown): void {
    this.log.error('an "error" event handler of webhooks failed', error);
  }
}

function endWith(failures: Failures, event: UntypedEvent): void {
  const errors = failures.filter((failure) => failure !== undefined);
  const [first] = errors;
  if (first === undefined) return;
  const message = errors.map((error) => error.message).join("\n");
  throw new WebhookReceiveError("ERR_WEBHOOKS_RECEIVE", message, {
    errors,
    event,
    cause: first,
  });
}

function defaultActionOf(payload: UnknownPayload): string | undefined {
  const action = Object.hasOwn(payload, "action") ? payload["action"] : undefined;
  return typeof action === "string" && action !== "" ? action : undefined;
}

/** The message of what a handler threw, which may be anything. */
function messageOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? thrown.message : "";
  } catch {
    return "";
  }
}
