import { brand, describeValue, UsageError } from "@fetchwork/kit";
import type { UntypedEvent } from "./event-map.ts";

/** Codes of the mistakes of a programmer that this package refuses. */
export type WebhookUsageErrorCode =
  | "ERR_WEBHOOKS_ARGUMENT"
  | "ERR_WEBHOOKS_EVENT_NAME"
  | "ERR_WEBHOOKS_OPTION"
  | "ERR_WEBHOOKS_SECRET"
  | "ERR_WEBHOOKS_TARGET";

/** Codes of what goes wrong with a delivery. */
export type WebhookErrorCode =
  | "ERR_WEBHOOKS_BODY"
  | "ERR_WEBHOOKS_BODY_BUDGET"
  | "ERR_WEBHOOKS_BODY_SIZE"
  | "ERR_WEBHOOKS_BODY_TIMEOUT"
  | "ERR_WEBHOOKS_BODY_USED"
  | "ERR_WEBHOOKS_EVENT"
  | "ERR_WEBHOOKS_HANDLER"
  | "ERR_WEBHOOKS_JSON"
  | "ERR_WEBHOOKS_OVERLOAD"
  | "ERR_WEBHOOKS_RECEIVE"
  | "ERR_WEBHOOKS_REPLAY_STORE"
  | "ERR_WEBHOOKS_RUNNING"
  | "ERR_WEBHOOKS_SECRET_FUNCTION"
  | "ERR_WEBHOOKS_SIGNATURE"
  | "ERR_WEBHOOKS_TIMEOUT";

/** A call that can never work: a wrong option, a missing argument, an event name that cannot be. */
export class WebhookUsageError extends UsageError {
  override readonly name: string = "WebhookUsageError";
  /** Stable; what to test for. */
  declare readonly code: WebhookUsageErrorCode;

  // oxlint-disable-next-line eslint/no-useless-constructor -- it takes the codes of this package only
  constructor(code: WebhookUsageErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, options);
  }
}

/** What {@link WebhookError} says besides its message. */
export interface WebhookErrorOptions extends ErrorOptions {
  /** What handlers threw, or what is wrong with the body. Default: none. */
  readonly errors?: readonly unknown[] | undefined;
  /** The event or as much of it as is known. Default: none. */
  readonly event?: Partial<UntypedEvent> | undefined;
  /** Status that a receiver answers with. Default: 500. */
  readonly status?: number | undefined;
}

/**
 * Something went wrong with a delivery: it could not be verified, read or handled. What `onError` handlers get.
 *
 * No message has a part of a body, a signature or a secret, and `event` is not printed with the error.
 */
export class WebhookError extends AggregateError {
  override readonly name: string = "WebhookError";
  /** Stable; what to test for. */
  readonly code: WebhookErrorCode;
  /** Status that a receiver answers with. */
  readonly status: number;
  readonly #event: Partial<UntypedEvent> | undefined;

  static {
    brand(this.prototype);
  }

  constructor(code: WebhookErrorCode, message: string, options: WebhookErrorOptions = {}) {
    const { errors = [], status = 500, event, ...rest } = options;
    super(errors, message, rest);
    this.code = code;
    this.status = status;
    this.#event = event;
  }

  /** The event as it was received, before any transform; of one that could not be verified, what its headers say. */
  get event(): Partial<UntypedEvent> | undefined {
    return this.#event;
  }
}

/** A handler failed. It has the handler's error as `cause` and alone in `errors`. */
export class WebhookHandlerError extends WebhookError {
  override readonly name: string = "WebhookHandlerError";
}

/** `receive` failed: each handler's failure is a {@link WebhookHandlerError} in `errors`, in the order of the handlers. */
export class WebhookReceiveError extends WebhookError {
  override readonly name: string = "WebhookReceiveError";
}

/** The error for an option that is not what was expected. */
export function optionError(what: string, value: unknown, expected: string): WebhookUsageError {
  return new WebhookUsageError(
    "ERR_WEBHOOKS_OPTION",
    `${what} is ${describeValue(value)}, expected ${expected}`,
  );
}
