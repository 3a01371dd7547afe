import { UsageError } from "@fetchwork/kit";

/** An invalid command line. The command exits with 2 and prints the message and a line that points to the help. */
export class CommandUsageError extends UsageError {
  override readonly name: string = "CommandUsageError";

  constructor(message: string, options?: ErrorOptions) {
    super("ERR_FETCHWORK_USAGE", message, options);
  }
}
