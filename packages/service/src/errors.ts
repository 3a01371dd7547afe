import { FetchworkError, UsageError } from "@fetchwork/kit";

/**
 * A fault of the settings or the surroundings of a service, `ERR_SERVICE_START`; its message says
 * which, and what to do about it. It never has the value of a secret.
 */
export class StartError extends FetchworkError {
  override readonly name = "StartError" as const;

  constructor(message: string, options?: ErrorOptions) {
    super("ERR_SERVICE_START", message, options);
  }
}

/** A definition that cannot work, `ERR_SERVICE_DEFINITION`; thrown where it is given. */
export class ServiceError extends UsageError {
  override readonly name = "ServiceError" as const;

  constructor(message: string, options?: ErrorOptions) {
    super("ERR_SERVICE_DEFINITION", message, options);
  }
}
