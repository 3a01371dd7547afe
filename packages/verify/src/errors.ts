import { UsageError } from "@fetchwork/kit";

/** An option that does not exist, or a service that cannot be opened, `ERR_VERIFY_OPTIONS`. */
export class VerifyError extends UsageError {
  override readonly name = "VerifyError" as const;

  constructor(message: string, options?: ErrorOptions) {
    super("ERR_VERIFY_OPTIONS", message, options);
  }
}
