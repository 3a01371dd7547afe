/** Codes of {@link EndpointError}. */
export type EndpointErrorCode =
  | "ERR_ENDPOINT_HEADER"
  | "ERR_ENDPOINT_HOST"
  | "ERR_ENDPOINT_METHOD"
  | "ERR_ENDPOINT_MISSING"
  | "ERR_ENDPOINT_OPTION"
  | "ERR_ENDPOINT_PATH"
  | "ERR_ENDPOINT_REQUEST"
  | "ERR_ENDPOINT_RESPONSE"
  | "ERR_ENDPOINT_TEMPLATE"
  | "ERR_ENDPOINT_VALUE";

/** Details of an {@link EndpointError} in addition to its message. */
export interface EndpointErrorOptions extends ErrorOptions {
  /** Index in the url or template at which it is malformed. */
  readonly position?: number | undefined;
}

/**
 * A call that cannot become a request: a malformed template, a header with a line break, a missing
 * variable. Messages hold names and positions, and never values of parameters.
 */
export class EndpointError extends TypeError {
  override readonly name: string = "EndpointError";
  /** Stable: compare this, not the message. */
  readonly code: EndpointErrorCode;
  /** Index in the url or template, in UTF-16 code units; `undefined` without a position. */
  readonly position: number | undefined;

  static {
    // Mark that `isFetchworkError` of `@fetchwork/kit` looks for; this package imports nothing.
    Object.defineProperty(this.prototype, Symbol.for("fetchwork.error"), { value: true });
  }

  constructor(code: EndpointErrorCode, message: string, options: EndpointErrorOptions = {}) {
    super(message, options);
    this.code = code;
    this.position = options.position;
  }
}

/** Throws an {@link EndpointError}. */
export function fail(
  code: EndpointErrorCode,
  message: string,
  options?: EndpointErrorOptions,
): never {
  throw new EndpointError(code, message, options);
}
