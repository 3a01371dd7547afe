import { UsageError } from "@fetchwork/kit";

/** Codes of mistakes in the use of this package. Each has a row in `docs/errors.md`. */
export type RestErrorCode = "ERR_REST_DEFINITION" | "ERR_REST_CONFIGURATION";

/** A definition or configuration that cannot work; thrown where it is made, never while serving. */
export class RestError extends UsageError {
  override readonly name = "RestError" as const;
  declare readonly code: RestErrorCode;

  // It narrows the codes.
  // oxlint-disable-next-line no-useless-constructor
  constructor(code: RestErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, options);
  }
}

/** Throws a RestError `ERR_REST_DEFINITION` with the message, unless something holds. */
export function check(holds: unknown, message: string): asserts holds {
  if (!holds) throw new RestError("ERR_REST_DEFINITION", message);
}

/** Throws a RestError `ERR_REST_CONFIGURATION` with the message, unless something holds. */
export function checkConfigured(holds: unknown, message: string): asserts holds {
  if (!holds) throw new RestError("ERR_REST_CONFIGURATION", message);
}
