import { brand, describeValue, UsageError } from "@fetchwork/kit";
import type { UntypedEvent } from "./event-map.ts";

/** Codes of mistakes in the program. */
export type WebhookUsageErrorCode =
  | "ERR_WEBHOOKS_ARGUMENT"
  | "ERR_WEBHOOKS_EVENT_NAME"
  | "ERR_WEBHOOKS_OPTION"
  | "ERR_WEBHOOKS_SECRET"
  | "ERR_WEBHOOKS_TARGET";

/** Codes of what can go wrong with a delivery. */
export type WebhookErrorCode =
  | "ERR_WEBHOOKS_BODY"
  | "ERR_WEBHOOKS_BODY_BUDGET"
  | "ERR_WEBHOOKS_BODY_SIZE"
  | "ERR_WEBHOOKS_BODY_TIMEOUT"
  | "ERR_WEBHOOKS_BODY_USED"
  | "ERR_WEBHOOKS_EVENT"
  | "ERR_WEBHOOKS_HANDLER"
  | "ERR_WEBHOOKS_JSON"
  | "ERR_WEBHOOKS_RECEIVE"
  | "ERR_WEBHOOKS_REPLAY_STORE"
  | "ERR_WEBHOOKS_RUNNING"
  | "ERR_WEBHOOKS_SECRET_FUNCTION"
  | "ERR_WEBHOOKS_SIGNATURE"
  | "ERR_WEBHOOKS_TIMEOUT";

/** A call that can never work: an invalid option or argument, a reserved or unknown event name. */
export class WebhookUsageError extends UsageError {
  override readonly name: string = "WebhookUsageError";
  /** Stable; what to test for. */
  declare readonly code: WebhookUsageErrorCode;

  // oxlint-disable-next-line eslint/no-useless-constructor -- narrows the code to those of this package
  constructor(code: WebhookUsageErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, options);
  }
}

/** Options of {@link WebhookError}. */
interface WebhookErrorOptions extends ErrorOptions {
  /** Errors that handlers threw, or faults of the body. Default: none. */
  readonly errors?: readonly unknown[] | undefined;
  /** The event, or the part of it that is known. Default: none. */
  readonly event?: Partial<UntypedEvent> | undefined;
  /** Status of a receiver's response. Default: 500. */
  readonly status?: number | undefined;
}

/**
 * A delivery could not be verified, read or handled. `onError` listeners are called with it.
 *
 * Messages contain no part of a body, a signature or a secret. `event` is not printed with the
 * error.
 */
export class WebhookError extends AggregateError {
  override readonly name: string = "WebhookError";
  /** Stable; what to test for. */
  readonly code: WebhookErrorCode;
  /** Status of a receiver's response. */
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

  /** The event as it was received, before any transform; if unverified, names of its headers. */
  get event(): Partial<UntypedEvent> | undefined {
    return this.#event;
  }
}

/** A handler failed. The handler's error is its `cause`, and the only one of its `errors`. */
export class WebhookHandlerError extends WebhookError {
  override readonly name: string = "WebhookHandlerError";
}

/** `receive` failed: `errors` has a {@link WebhookHandlerError} per handler, in order. */
export class WebhookReceiveError extends WebhookError {
  override readonly name: string = "WebhookReceiveError";
}

/** Makes the error for an invalid option. */
export function optionError(name: string, value: unknown, expected: string): WebhookUsageError {
  return new WebhookUsageError(
    "ERR_WEBHOOKS_OPTION",
    `${name} must be ${expected}, got ${describeValue(value)}`,
  );
}

type BodyErrorCode = Extract<WebhookErrorCode, `ERR_WEBHOOKS_BODY${string}`>;

const bodyErrors: Readonly<Record<BodyErrorCode, readonly [status: number, message: string]>> = {
  ERR_WEBHOOKS_BODY: [400, "the request was aborted"],
  ERR_WEBHOOKS_BODY_BUDGET: [503, "too many bytes wait for verification"],
  ERR_WEBHOOKS_BODY_SIZE: [413, "the body is too large"],
  ERR_WEBHOOKS_BODY_TIMEOUT: [408, "the body took too long to arrive"],
  ERR_WEBHOOKS_BODY_USED: [
    500,
    "the body was already read; put the receiver before body parsers, or keep the bytes in request.rawBody",
  ],
};

/** Makes the error for a body that cannot be read. */
export function bodyError(code: BodyErrorCode, cause?: unknown): WebhookError {
  const [status, message] = bodyErrors[code];
  return new WebhookError(code, message, { status, ...(cause === undefined ? {} : { cause }) });
}

/** Returns the same error with an event. */
export function withEvent(error: WebhookError, event: Partial<UntypedEvent>): WebhookError {
  const { code, message, status, errors, cause } = error;
  return new WebhookError(code, message, {
    status,
    errors,
    event,
    ...(cause === undefined ? {} : { cause }),
  });
}
