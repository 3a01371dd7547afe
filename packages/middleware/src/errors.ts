/** Codes of the mistakes of a programmer that this package refuses. */
export type MiddlewareErrorCode =
  | "ERR_MIDDLEWARE_BODY_USED"
  | "ERR_MIDDLEWARE_JSON"
  | "ERR_MIDDLEWARE_OPTION"
  | "ERR_MIDDLEWARE_PATTERN";

/** A call that can never work: a wrong or contradictory option, a value without a JSON form. Options
 * are refused by the factory, never at a request. */
export class MiddlewareError extends TypeError {
  override readonly name: string = "MiddlewareError";
  /** Stable; what to test for. */
  readonly code: MiddlewareErrorCode;

  constructor(code: MiddlewareErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/**
 * A handler was not done at the deadline of `timeout`. The reason of the signal, and what writes after the deadline
 * fail with. Its name is `TimeoutError`, as that of `AbortSignal.timeout()`.
 */
export class HandlerTimeoutError extends Error {
  override readonly name: string = "TimeoutError";
  /** Stable; what to test for. */
  readonly code = "ERR_MIDDLEWARE_TIMEOUT";
  /** Time that the handler had, in milliseconds. */
  readonly milliseconds: number;

  constructor(milliseconds: number) {
    super(`the handler was not done after ${milliseconds} ms`);
    this.milliseconds = milliseconds;
  }
}

/**
 * Breaks an exchange off without a word: `recoverer` lets it pass, logs nothing and answers nothing, so that the
 * server cuts the connection. `ABORT_HANDLER` is one that is ready to be thrown.
 */
export class AbortHandlerError extends Error {
  override readonly name: string = "AbortError";
  /** Stable; what to test for. */
  readonly code = "ERR_MIDDLEWARE_ABORT";

  constructor(message = "the handler broke the exchange off", options?: ErrorOptions) {
    super(message, options);
  }
}

/** Codes of what is wrong with a request. */
export type RequestErrorCode =
  | "ERR_MIDDLEWARE_BODY_INVALID"
  | "ERR_MIDDLEWARE_BODY_TOO_LARGE"
  | "ERR_MIDDLEWARE_CROSS_ORIGIN"
  | "ERR_MIDDLEWARE_DATE";

/** Something is wrong with a request; whoever reads it answers with `status`. */
export class RequestError extends Error {
  override readonly name: string = "RequestError";
  /** Stable; what to test for. */
  readonly code: RequestErrorCode;
  /** Status of the answer: 400, 403, 413 or 422. */
  readonly status: number;

  constructor(code: RequestErrorCode, status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.status = status;
  }
}
