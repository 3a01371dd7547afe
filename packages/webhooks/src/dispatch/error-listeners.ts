import type { Logger } from "@fetchwork/kit";
import type { WebhookError } from "../errors.ts";
import { guarded } from "../guarded.ts";
import type { UntypedHandler } from "./handler-registry.ts";

interface Registered {
  readonly listener: unknown;
  /** Calls the listener. Never throws. */
  readonly call: (error: WebhookError) => void;
}

/** The listeners of `onError`. Errors that they throw or reject with are logged. */
export class ErrorListeners {
  readonly #log: Logger;
  #listeners: readonly Registered[] = [];

  constructor(log: Logger) {
    this.#log = log;
  }

  get isEmpty(): boolean {
    return this.#listeners.length === 0;
  }

  add(listener: (error: WebhookError) => unknown): void {
    const call = guarded(listener, (error) => {
      this.#log.error('an "error" event handler of webhooks failed', error);
    });
    this.#listeners = [...this.#listeners, { listener, call }];
  }

  /** Removes the most recent registration of a listener; does nothing when there is none. */
  remove(listener: UntypedHandler): void {
    const index = this.#listeners.findLastIndex((known) => known.listener === listener);
    if (index >= 0) this.#listeners = this.#listeners.toSpliced(index, 1);
  }

  /** Calls all listeners with an error, and returns the error. */
  report<Failure extends WebhookError>(failure: Failure): Failure {
    for (const { call } of this.#listeners) call(failure);
    return failure;
  }
}
