import { FetchworkError, UsageError } from "@fetchwork/kit/errors";

/** Codes of the mistakes of a programmer that this package refuses. */
type MiddlewareErrorCode =
  | "ERR_MIDDLEWARE_BODY_USED"
  | "ERR_MIDDLEWARE_JSON"
  | "ERR_MIDDLEWARE_OPTION"
  | "ERR_MIDDLEWARE_ORDER"
  | "ERR_MIDDLEWARE_PATTERN"
  | "ERR_MIDDLEWARE_SERVER";

/**
 * A call that can never work: an invalid or contradictory option, a value without a JSON form.
 * Options are refused by the factory, never at a request.
 */
export class MiddlewareError extends UsageError {
  override readonly name: string = "MiddlewareError";
  declare readonly code: MiddlewareErrorCode;

  // It narrows the type of the code.
  // oxlint-disable-next-line no-useless-constructor
  constructor(code: MiddlewareErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, options);
  }
}

/**
 * A handler was not done at the deadline of `timeout`. The reason of the signal, and what writes
 * after the deadline fail with. Its name is `TimeoutError`, as that of `AbortSignal.timeout()`.
 */
export class HandlerTimeoutError extends FetchworkError {
  override readonly name: string = "TimeoutError";
  declare readonly code: "ERR_MIDDLEWARE_TIMEOUT";
  /** Time that the handler had, in milliseconds. */
  readonly milliseconds: number;

  constructor(milliseconds: number) {
    super("ERR_MIDDLEWARE_TIMEOUT", `the handler was not done after ${milliseconds} ms`);
    this.milliseconds = milliseconds;
  }
}

/**
 * Ends an exchange without a response: `recoverer` rethrows it and logs nothing, so that the
 * server cuts the connection. `ABORT_HANDLER` is one that is ready to be thrown.
 */
export class AbortHandlerError extends FetchworkError {
  override readonly name: string = "AbortError";
  declare readonly code: "ERR_MIDDLEWARE_ABORT";

  constructor(message = "the handler broke the exchange off", options?: ErrorOptions) {
    super("ERR_MIDDLEWARE_ABORT", message, options);
  }
}

/** Codes of what is wrong with a request. */
type RequestErrorCode =
  | "ERR_MIDDLEWARE_BODY_INVALID"
  | "ERR_MIDDLEWARE_BODY_TOO_LARGE"
  | "ERR_MIDDLEWARE_CROSS_ORIGIN"
  | "ERR_MIDDLEWARE_DATE";

/**
 * Something is wrong with a request. A handler need not catch it: `recoverer` and the servers
 * respond with its status and its message, and log nothing.
 */
export class RequestError extends FetchworkError {
  override readonly name: string = "RequestError";
  declare readonly code: RequestErrorCode;
  /** Status of the response: 400, 403, 413 or 422. */
  readonly status: number;
  /** The message may be shown to the client. */
  readonly expose = true;

  constructor(code: RequestErrorCode, status: number, message: string, options?: ErrorOptions) {
    super(code, message, options);
    this.status = status;
  }
}
