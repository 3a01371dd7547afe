/** Codes of the mistakes that a program can make with this package. Each has a row in `docs/errors.md`. */
export type RestErrorCode = "ERR_REST_DEFINITION" | "ERR_REST_CONFIGURATION";

/** A definition or a configuration that cannot work; thrown where it is given, never while serving. */
export class RestError extends TypeError {
  override readonly name = "RestError" as const;
  readonly code: RestErrorCode;

  constructor(code: RestErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
