import { UsageError } from "@fetchwork/kit";

/** Codes of the mistakes that a program can make with this package. Each has a row in `docs/errors.md`. */
export type RestErrorCode = "ERR_REST_DEFINITION" | "ERR_REST_CONFIGURATION";

/** A definition or a configuration that cannot work; thrown where it is given, never while serving. */
export class RestError extends UsageError {
  override readonly name = "RestError" as const;
  declare readonly code: RestErrorCode;

  // It narrows the codes.
  // oxlint-disable-next-line no-useless-constructor
  constructor(code: RestErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, options);
  }
}
